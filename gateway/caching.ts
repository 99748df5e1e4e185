/** Entity tags, by which a client that has the bytes of a tag is answered 304; and content codings. */
import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";

/** @returns a strong entity tag of a hash, in its quotes. */
export function entityTagOf(content: string | Buffer): string {
  return `"${hash("sha256", content, "base64url").slice(0, 22)}"`;
}

/** Whether `If-None-Match` names a tag. */
export function hasTag({ headers }: FastifyRequest, tag: string): boolean {
  const known = headers["if-none-match"]?.split(",").map((one) => one.trim().replace(/^W\//, "")) ?? [];
  return known.includes(tag) || known.includes("*");
}

/** Content codings that a client takes. */
export function acceptedCodings({ headers }: FastifyRequest): ReadonlySet<string> {
  const offers = (headers["accept-encoding"] ?? "").split(",");
  return new Set(
    offers.flatMap((offer) => {
      const [coding = "", ...parameters] = offer.split(";").map((part) => part.trim().toLowerCase());
      return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : [coding];
    }),
  );
}
