/**
 * Sends what is kept of a person, as a stream: it is made while it is read, so that its size costs no memory. A stream
 * that cannot be finished breaks its connection, so that nobody takes it for a whole one.
 */
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#shared/process/log.ts";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { acceptedCodings } from "../caching.ts";
import type { Services } from "../clients.ts";
import type { ExportLimits } from "../listener/limits.ts";
import { exportText } from "./lines.ts";
import { openPerson } from "./person.ts";

/** The action of the audit entry that each download leaves. */
export const downloadAction = "privacy_export_downloaded";

/** Lines of JSON. */
export const streamType = "application/x-ndjson";

const retryAfterMs = 10_000;

/** Who asks for a stream, and on whose behalf the services are called. */
export interface Reading {
  request: FastifyRequest;
  reply: FastifyReply;
  /**
   * Without the signal of the client: calls with it leave something of each behind until it has gone (see
   * createLinkedAbortController of @connectrpc/connect 2.2.0), and a stream has many.
   */
  services: Services;
  propertyId: string;
  /** As the audit has it: a key or an installation, or a member. */
  reader: { actorId: string } | { memberId: string; memberEmail: string };
}

export interface Exports {
  /**
   * Answers with the stream of an access request.
   * @throws DaybookError `resource_not_found`, `not_ready`, `download_expired`, `invalid_state_transition` or
   * `rate_limited`
   */
  send(reading: Reading, privacyRequestId: string): Promise<FastifyReply>;
}

export function createExports(limits: ExportLimits, log: Log): Exports {
  const slots = createSlots(limits);
  return {
    async send(reading, privacyRequestId) {
      const { request, reply, services, propertyId, reader } = reading;
      const isHead = request.method === "HEAD";
      const release = isHead ? undefined : slots.take("actorId" in reader ? reader.actorId : reader.memberId);
      try {
        const person = await openPerson(services, propertyId, privacyRequestId);
        const isZipped = acceptedCodings(request).has("gzip");
        void reply.headers({
          vary: "Accept-Encoding",
          "content-disposition": `attachment; filename="${privacyRequestId}.ndjson"`,
          ...(isZipped ? { "content-encoding": "gzip" } : {}),
        });
        void reply.type(streamType);
        if (!release) return reply.send("");
        await recordDownload(reading, privacyRequestId);
        // One that has gone emits no close any more.
        if (reply.raw.destroyed) throw serviceUnavailable(new Error("the client has gone"));
        const source = Readable.from(exportText(person), { objectMode: false });
        reply.raw.once("close", release);
        const tooLong = setTimeout(() => source.destroy(new Error("it was not read in time")), limits.exportTimeoutMs);
        reply.raw.once("close", () => {
          clearTimeout(tooLong);
          source.destroy();
        });
        const noteEnd = (error?: Error | null): void => {
          if (!error || request.raw.socket.destroyed) return;
          log.warn({ err: error, requestId: request.id, privacyRequestId }, "a stream of a person's data was cut");
        };
        if (isZipped) return reply.send(pipeline(source, createGzip(), noteEnd));
        source.once("error", noteEnd);
        return reply.send(source);
      } catch (error) {
        release?.();
        for (const name of ["vary", "content-disposition", "content-encoding"]) void reply.removeHeader(name);
        throw error;
      }
    },
  };
}

/** Nothing is shown without an entry in the audit. */
async function recordDownload(
  { request, services, propertyId, reader }: Reading,
  privacyRequestId: string,
): Promise<void> {
  await services.members.recordAudit({
    entry: {
      ...reader,
      propertyId,
      action: downloadAction,
      targetIds: [privacyRequestId],
      address: request.ip,
      requestId: request.id,
      succeeded: true,
    },
  });
}

/** Counts streams, of each caller and of all. A slot can be released once. */
function createSlots({ exportsPerCallerMax, exportsMax }: ExportLimits) {
  const open = new Map<string, number>();
  let total = 0;
  return {
    /** @throws DaybookError `rate_limited` or `service_unavailable` */
    take(holder: string): () => void {
      const own = open.get(holder) ?? 0;
      if (own >= exportsPerCallerMax) {
        const message = `There are ${own} downloads under way for this key, app or member. Wait until one is done.`;
        throw new DaybookError("rate_limited", message, { retryAfterMs });
      }
      if (total >= exportsMax) {
        const message = "The gateway has too many downloads under way for the moment. Try again.";
        throw new DaybookError("service_unavailable", message, { retryAfterMs });
      }
      open.set(holder, own + 1);
      total++;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        total--;
        const left = (open.get(holder) ?? 1) - 1;
        if (left > 0) open.set(holder, left);
        else open.delete(holder);
      };
    },
  };
}
