/** The files of the dashboard in the browser, as Vite has built them. They are read once; nothing else is served. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DaybookError } from "#shared/values/errors.ts";
import { acceptedCodings, entityTagOf, hasTag } from "../caching.ts";
import { scriptPath, stylePath } from "./pages/layout.ts";

/** The app, as it was built. */
export interface Build {
  /** The page that loads the app. */
  index: Buffer;
  /** By path behind `/dashboard/`, such as `assets/main-Bd3x.js`. */
  files: ReadonlyMap<string, Asset>;
}

interface Asset {
  type: string;
  tag: string;
  bytes: Buffer;
  /** By content coding, the best first. */
  encoded: ReadonlyMap<string, Buffer>;
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json; charset=utf-8",
};
const encodings: ReadonlyMap<string, string> = new Map([
  ["br", ".br"],
  ["gzip", ".gz"],
]);
const assetsFolder = "assets/";
// The name of a file under assets/ has a hash of what is in it.
const forever = "public, max-age=31536000, immutable";

/** Reads a build; undefined without one. */
export function readBuild(folder: string): Build | undefined {
  let index: Buffer;
  try {
    index = readFileSync(join(folder, "index.html"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in types)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => path.startsWith(assetsFolder));
  return { index, files: new Map(paths.map((path) => [path, readAsset(join(folder, path))])) };
}

function readAsset(file: string): Asset {
  const bytes = readFileSync(file);
  const encoded = [...encodings].flatMap(([coding, suffix]): [string, Buffer][] => {
    try {
      return [[coding, readFileSync(file + suffix)]];
    } catch {
      return [];
    }
  });
  const type = types[extname(file)] ?? "application/octet-stream";
  return { type, tag: entityTagOf(bytes), bytes, encoded: new Map(encoded) };
}

/** Serves the files of a build, and those of the pages without script. */
export function assetRoutes(app: FastifyInstance, build: Build | undefined): void {
  for (const path of [stylePath, scriptPath]) {
    const asset = readAsset(join(import.meta.dirname, "pages", path.slice(path.lastIndexOf("/") + 1)));
    app.get(path, (request, reply) => sendAsset(request, reply, asset, "no-cache"));
  }
  app.get<{ Params: { "*": string } }>(`/dashboard/${assetsFolder}*`, (request, reply) => {
    const asset = build?.files.get(assetsFolder + request.params["*"]);
    if (!asset) throw new DaybookError("resource_not_found", "The dashboard has no such file. Load the page again.");
    return sendAsset(request, reply, asset, forever);
  });
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset, caching: string): FastifyReply {
  const accepted = acceptedCodings(request);
  const [coding, bytes] = [...asset.encoded].find(([name]) => accepted.has(name)) ?? [undefined, asset.bytes];
  // Another coding has other bytes, so its tag is another.
  const tag = coding === undefined ? asset.tag : asset.tag.replace(/"$/, `-${coding}"`);
  void reply.headers({
    etag: tag,
    "cache-control": caching,
    vary: "Accept-Encoding",
    "cross-origin-resource-policy": "same-origin",
  });
  if (hasTag(request, tag)) return reply.code(304).send();
  if (coding !== undefined) void reply.header("content-encoding", coding);
  return reply.type(asset.type).send(bytes);
}
