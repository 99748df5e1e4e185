import { expect, test } from "vitest";
import { Share } from "./share.ts";

const limit = 1_000;
const grant = (number: number, granted: number, left: number) => ({ number, granted, left, limit });

function spend(share: Share, count: number): void {
  for (let index = 0; index < count; index++) expect(share.spend()).toBe(true);
}

test("admits what was granted and no more", () => {
  const share = new Share(1, limit);
  expect(share.spend()).toBe(false);
  expect(share.isExhausted).toBe(false);
  share.add(grant(1, 2, 0), 0);
  spend(share, 2);
  expect(share.spend()).toBe(false);
  expect(share.isExhausted).toBe(true);
});

test("asks for more the faster it is used, and for less the slower", () => {
  const share = new Share(1, limit);
  expect(share.wanted(0, 0)).toBe(10);
  share.add(grant(1, 10, 990), 0);
  expect(share.wanted(0, 100)).toBe(20);
  share.add(grant(1, 20, 970), 100);
  expect(share.wanted(0, 200)).toBe(40);
  share.add(grant(1, 40, 930), 200);
  expect(share.wanted(0, 2_000)).toBe(40);
  expect(share.wanted(0, 10_000)).toBe(20);
  expect(share.wanted(0, 10_000)).toBe(10);
  expect(share.wanted(0, 10_000)).toBe(10);
  expect(share.wanted(70, 10_000)).toBe(70);
  expect(share.wanted(5_000, 10_000)).toBe(limit);
});

test("is low before it is used up, unless nothing is left", () => {
  const share = new Share(1, limit);
  share.add(grant(1, 10, 990), 0);
  expect(share.isLow).toBe(false);
  spend(share, 5);
  expect(share.isLow).toBe(true);
  share.add(grant(1, 0, 0), 0);
  expect(share.isLow).toBe(false);
});

test("goes over to what was leased ahead when the window ends, and to nothing when there is none", () => {
  const share = new Share(1, limit);
  share.add(grant(1, 10, 990), 0);
  expect(share.lacks(2)).toBe(true);
  share.add(grant(2, 5, 995), 0);
  expect(share.lacks(2)).toBe(false);
  share.moveTo(2);
  expect(share.current).toMatchObject({ number: 2, unspent: 5, left: 995 });
  // When the clock is set back, the new window is kept and the old one starts empty.
  share.moveTo(1);
  expect(share.current).toMatchObject({ number: 1, unspent: 0, isKnown: false });
  share.moveTo(2);
  expect(share.current).toMatchObject({ number: 2, unspent: 5 });
  share.moveTo(4);
  expect(share.current).toMatchObject({ number: 4, unspent: 0, left: limit, isKnown: false });
});

test("takes nothing of a window that is over", () => {
  const share = new Share(2, limit);
  share.add(grant(1, 10, 990), 0);
  expect(share.spend()).toBe(false);
});

test("lets go of what is beyond twice its use and the smallest share", () => {
  const share = new Share(1, limit);
  share.add(grant(1, 200, 800), 0);
  spend(share, 20);
  expect(share.tick(false)).toBe(140);
  expect(share.current).toMatchObject({ unspent: 40, left: 940 });
  expect(share.tick(false)).toBe(30);
  expect(share.tick(false)).toBe(0);
});

test("lets go of all when it is idle for long, or when the window ends and much of it is gone", () => {
  const idle = new Share(1, limit);
  idle.add(grant(1, 10, 990), 0);
  expect(Array.from({ length: 5 }, () => idle.tick(false))).toEqual([0, 0, 0, 0, 10]);
  const scarce = new Share(1, limit);
  scarce.add(grant(1, 10, 490), 0);
  spend(scarce, 2);
  expect(scarce.tick(true)).toBe(4);
  const ample = new Share(1, limit);
  ample.add(grant(1, 10, 990), 0);
  expect(ample.tick(true)).toBe(0);
});
