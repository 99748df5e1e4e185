/**
 * Writes a picture as a PNG of at most 256 colors, a third of the size. A screen has few colors, and the rest of them
 * are edges of letters, which nobody tells from their nearest neighbors.
 */
import { crc32, deflateSync } from "node:zlib";

const colorsMax = 256;
/** So many of the most frequent ones stay as they are: surfaces and lines. */
const exact = 64;
/** The others differ by so much, squared, so that rare hues have a place too. */
const differenceMin = 300;
const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** @param rgba four bytes for each pixel, row by row, without transparency */
export function encodeSmallPng(rgba: Uint8Array, width: number): Buffer {
  const height = rgba.length / 4 / width;
  const counts = new Map<number, number>();
  const colorAt = (pixel: number): number =>
    ((rgba[pixel * 4] ?? 0) << 16) | ((rgba[pixel * 4 + 1] ?? 0) << 8) | (rgba[pixel * 4 + 2] ?? 0);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const color = colorAt(pixel);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const palette = choose([...counts].toSorted(([, a], [, b]) => b - a).map(([color]) => color));
  const places = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  // Each row begins with its filter, which is none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(colorAt(y * width + x)) ?? 0;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a pixel, each the place of a color in the palette.
  header.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** @param colors the most frequent first */
function choose(colors: readonly number[]): number[] {
  const palette = colors.slice(0, exact);
  for (const color of colors.slice(exact)) {
    if (palette.length === colorsMax) break;
    if (palette.every((other) => difference(other, color) >= differenceMin)) palette.push(color);
  }
  return palette;
}

function difference(one: number, other: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
}

function nearest(palette: readonly number[], color: number): number {
  const distances = palette.map((other) => difference(other, color));
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
