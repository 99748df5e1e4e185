/** Refuses requests that a page of another origin makes with the cookie of a member (CSRF). */
import { Code, type ConnectError } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { placeOf } from "./place.ts";
import { refusal } from "./refusal.ts";

/**
 * Checks Sec-Fetch-Site, which browsers send and pages cannot set. Without it, Origin must be ours.
 * @throws ConnectError `cross_origin`
 */
export function checkSameOrigin(request: FastifyRequest): void {
  const { origin, "sec-fetch-site": site } = request.headers;
  const isSame = site === undefined ? origin === placeOf(request).origin : site === "same-origin";
  if (!isSame) throw crossOrigin();
}

function crossOrigin(): ConnectError {
  return refusal(
    Code.PermissionDenied,
    "cross_origin",
    "The request comes from another site. Open the dashboard at its own address and try again.",
  );
}
