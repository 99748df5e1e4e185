/** Exchanges: the request as handlers of every surface get it. */
import { Code, ConnectError, type CallOptions } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { EventInput, RecordEventResult } from "#proto/daybook/event/v1/event_pb.ts";
import type { Profile, UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { callOptions, type Call } from "#shared/rpc/interceptors.ts";
import type { Clock } from "#shared/values/clock.ts";
import type { Log } from "#shared/process/log.ts";
import type { Services } from "../clients.ts";
import type { Cursors } from "../cursor.ts";
import type { Caller } from "../callers.ts";
import type { Exports } from "../export/exports.ts";
import { isWrite, maySeeValues, recordUnderKey } from "../plugins/idempotency.ts";
import { callerOf, callOf } from "../plugins/request.ts";
import type { Profiles, Upserted } from "../profiles.ts";
import type { Recording } from "../recording.ts";

export interface SurfaceContext {
  bindServices: (options: CallOptions) => Services;
  recording: Recording;
  profiles: Profiles;
  exports: Exports;
  cursors: Cursors;
  clock: Clock;
  log: Log;
}

/** Surfaces extend it with the checked query and body. */
export class Exchange {
  readonly context: SurfaceContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  #services: Services | undefined;

  constructor(context: SurfaceContext, request: FastifyRequest, reply: FastifyReply) {
    this.context = context;
    this.request = request;
    this.reply = reply;
    this.caller = callerOf(request);
  }

  get propertyId(): string {
    return this.caller.propertyId;
  }

  /** The services on behalf of the caller. Calls of a read are cancelled when the client disconnects. */
  get services(): Services {
    this.#services ??= this.context.bindServices(this.#callOptions());
    return this.#services;
  }

  /** Whether the caller may see unmasked identifier values. */
  get showsValues(): boolean {
    return maySeeValues(this.request);
  }

  /** Records the one event of the request, under its Idempotency-Key. The result holds it whole. */
  recordEvent(event: EventInput): Promise<RecordEventResult> {
    const { recording } = this.context;
    return recordUnderKey(this.request, event, (input) => recording.recordOne(this.propertyId, input, this.#call));
  }

  /** Records 1 to 1,000 events. The results are in order and hold the ids. */
  recordEvents(events: EventInput[]): Promise<RecordEventResult[]> {
    return this.context.recording.recordBatch(this.propertyId, events, this.#call);
  }

  /** Reads a profile, also a merged one; undefined if the property has none of this id. */
  readProfile(profileId: string): Promise<Profile | undefined> {
    return this.context.profiles.readOne(this.propertyId, profileId, this.#call);
  }

  /** Like readProfile, but follows merges to the survivor. */
  readSurvivor(profileId: string): Promise<Profile | undefined> {
    return this.context.profiles.readSurvivor(this.propertyId, profileId, this.#call);
  }

  /** @throws DaybookError why the upsert was refused */
  upsertProfile(request: UpsertProfileRequest): Promise<Upserted> {
    return this.context.profiles.upsertOne(this.propertyId, request, this.#call);
  }

  get #call(): Call {
    return callOf(this.request);
  }

  #callOptions(): CallOptions {
    const { timeoutMs } = this.request.routeOptions.config.operation ?? {};
    return callOptions(this.#call, timeoutMs, isWrite(this.request) ? undefined : goneSignal(this.reply));
  }
}

/** Aborted when the client disconnects before its answer. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // The request emits close once its body is read, so the answer is observed instead.
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new ConnectError("the client has gone", Code.Canceled));
  });
  return gone.signal;
}
