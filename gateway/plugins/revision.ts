/** The revision of the answer: the key's, or the one that Service-Version asks for. */
import type { FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/values/errors.ts";
import { revisions, type Revision } from "#shared/values/revisions.ts";
import { parseDateTime } from "#shared/values/time.ts";

export const revisionPlugin = fastifyPlugin((app) => {
  app.addHook("onRequest", async (request) => {
    const asked = request.headers["service-version"];
    if (asked !== undefined) request.revision = readRevision(String(asked));
  });
});

/** The revision that Service-Version asks for; undefined without a valid one. */
export function revisionAsked(request: FastifyRequest): Revision | undefined {
  const asked = request.headers["service-version"];
  if (asked === undefined) return undefined;
  try {
    return readRevision(String(asked));
  } catch {
    return undefined;
  }
}

/**
 * The newest revision that is not after a date.
 * @throws DaybookError `invalid_revision` for text that is no date, or a date before the first revision
 */
export function readRevision(text: string): Revision {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text) && parseDateTime(`${text}T00:00Z`) !== undefined;
  // Dates of this form sort like their texts.
  const revision = isDate ? revisions.findLast((known) => known <= text) : undefined;
  if (!revision) {
    const message = `Service-Version is a date such as 2026-11-01, from ${revisions[0]} on.`;
    throw new DaybookError("invalid_revision", message, { param: "Service-Version" });
  }
  return revision;
}
