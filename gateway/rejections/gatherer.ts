/**
 * Gathers refused writes and tells the event service of them once a second, so that no write waits for it. Memory is
 * limited by the number of entries, their bytes, and the number of groups. What exceeds a limit is only counted.
 */
import type { Client } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Counter, Gauge, type Registry } from "prom-client";
import {
  PayloadState,
  type RejectedWriteCountSchema,
  type RejectedWriteService,
  type RejectionSurface,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import type { Log } from "#shared/process/log.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { cutText, groupParam, keptPerGroupMax, payloadBytesMax, rejectionIdAt } from "#shared/values/rejections.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { Caller } from "../callers.ts";
import { errorMessage, sizeOf, type RefusedError, type Write } from "./write-messages.ts";

/** A write that was refused for good. */
export interface Refused {
  caller: Caller;
  operation: string;
  surface: RejectionSurface;
  status: number;
  error: RefusedError;
  requestId: string;
  itemIndex?: number;
  clientReference?: string | undefined;
  eventType?: string | undefined;
  /** Names it for good, if the same write may be refused in a repeated request. */
  id?: Uuid | undefined;
  /** What was sent. Only read if it is kept. */
  readPayload: () => Buffer | undefined;
}

export interface Gatherer extends Closable {
  /** Never throws and never waits. */
  note(refused: Refused): void;
}

type Count = Exclude<MessageInitShape<typeof RejectedWriteCountSchema>, { $typeName: string }>;

interface Telling {
  writes: Write[];
  counts: Count[];
  bytes: number;
  /** Times that it was answered with an error of the server. */
  failures: number;
}

interface Counting {
  count: number;
  firstAt: Micros;
  lastAt: Micros;
  toMessage: (this: void, counting: Counting) => Count;
}

const intervalMs = 1_000;
const writesMax = 2_000;
const bytesMax = 8 * 1024 * 1024;
// Of one property, so that another's writes find room.
const writesPerPropertyMax = 1_000;
const bytesPerPropertyMax = bytesMax / 2;
const groupsMax = 5_000;
// Groups without the fields that callers choose, which take what exceeds groupsMax.
const coarseGroupsMax = 10_000;
const itemsPerCallMax = 500;
const bytesPerCallMax = 4 * 1024 * 1024;
const lastAttemptsMax = 3;
// Before a call is told in halves, to find what cannot be told.
const failuresMax = 5;
const minuteMicros = 60_000_000;
const call = systemCall("gateway", 5_000);

export function createGatherer({
  client,
  clock,
  log,
  registry,
}: {
  client: Client<typeof RejectedWriteService>;
  clock: Clock;
  log: Log;
  registry: Registry;
}): Gatherer {
  const metrics = showMetrics(
    registry,
    () => writes.length + telling.reduce((sum, some) => sum + some.writes.length, 0),
  );
  let writes: Write[] = [];
  let bytes = 0;
  let counts = new Map<string, Counting>();
  const telling: Telling[] = [];
  const ofProperty = new Map<string, { writes: number; bytes: number }>();
  // How many entries of each group were gathered in the minute.
  let minute = 0;
  const gathered = new Map<string, number>();

  /** Counts an entry of a group. @returns whether there is room for it. */
  function takeRoom(group: string, propertyId: string): boolean {
    const seen = gathered.get(group) ?? 0;
    const own = ofProperty.get(propertyId);
    if (seen >= keptPerGroupMax || writes.length >= writesMax || (seen === 0 && gathered.size >= groupsMax))
      return false;
    if (own && (own.writes >= writesPerPropertyMax || own.bytes + payloadBytesMax > bytesPerPropertyMax)) return false;
    if (bytes + payloadBytesMax > bytesMax) return false;
    gathered.set(group, seen + 1);
    return true;
  }

  function count(refused: Refused, now: Micros, groupKey: string): void {
    const isFull = counts.size >= groupsMax && !counts.has(groupKey);
    const key = isFull
      ? JSON.stringify([minute, refused.caller.callerId, refused.operation, refused.error.code])
      : groupKey;
    const known = counts.get(key);
    if (known) {
      known.count++;
      known.lastAt = now;
      return;
    }
    if (counts.size >= coarseGroupsMax) {
      metrics.lost(1);
      return;
    }
    const { caller, operation, error } = refused;
    const param = isFull ? null : groupParam(error.param);
    const eventType = isFull ? undefined : refused.eventType;
    const id = newUuid();
    const toMessage = (counting: Counting): Count => ({
      id,
      propertyId: caller.propertyId,
      group: {
        operation,
        code: error.code,
        param: param ?? undefined,
        eventType,
        keyId: caller.callerId,
        keyName: caller.name,
        count: BigInt(counting.count),
        firstAt: toTimestamp(counting.firstAt),
        lastAt: toTimestamp(counting.lastAt),
      },
    });
    counts.set(key, { count: 1, firstAt: now, lastAt: now, toMessage });
  }

  /** Moves what was gathered into calls, whose content does not change when they are repeated. */
  function pack(): void {
    if (telling.length > 0) return;
    const messages = [...counts.values()].map((counting) => counting.toMessage(counting));
    let next: Telling = { writes: [], counts: [], bytes: 0, failures: 0 };
    const take = (size: number): Telling => {
      const { length } = next.writes;
      if (length + next.counts.length >= itemsPerCallMax || (length > 0 && next.bytes + size > bytesPerCallMax)) {
        telling.push(next);
        next = { writes: [], counts: [], bytes: 0, failures: 0 };
      }
      next.bytes += size;
      return next;
    };
    for (const write of writes) take(sizeOf(write)).writes.push(write);
    for (const message of messages) take(0).counts.push(message);
    if (next.writes.length + next.counts.length > 0) telling.push(next);
    writes = [];
    counts = new Map();
    ofProperty.clear();
  }

  async function tell(): Promise<void> {
    pack();
    for (let [first] = telling; first; [first] = telling) {
      try {
        await client.recordRejectedWrites({ writes: first.writes, counts: first.counts }, call);
      } catch (error) {
        // Anything but a refusal of what is told: it is told again.
        if (!(error instanceof DaybookError) || error.status >= 500 || error.retryable) {
          log.warn({ err: error }, "refused writes could not be told");
          if (error instanceof DaybookError && error.status === 500 && ++first.failures >= failuresMax) divide(first);
          return;
        }
        log.error({ err: error }, "refused writes were refused themselves");
        metrics.lost(first.writes.length + first.counts.length);
      }
      bytes -= first.bytes;
      telling.shift();
    }
  }

  /** Has a call that fails told in halves, so that what cannot be told keeps nothing else waiting. */
  function divide(failed: Telling): void {
    const { writes: some, counts: others } = failed;
    if (some.length + others.length === 1) {
      log.error("a refused write is lost, because it cannot be told");
      metrics.lost(1);
      bytes -= failed.bytes;
      telling.shift();
      return;
    }
    const halves = [some.slice(0, some.length >> 1), some.slice(some.length >> 1)].map((half, index): Telling => {
      const middle = some.length % 2 === 0 ? others.length >> 1 : (others.length + 1) >> 1;
      const rest = index === 0 ? others.slice(0, middle) : others.slice(middle);
      return { writes: half, counts: rest, bytes: half.reduce((sum, write) => sum + sizeOf(write), 0), failures: 0 };
    });
    telling.splice(0, 1, ...halves);
  }

  const repeated = repeat(intervalMs, log, "tell refused writes", tell);

  return {
    note(refused) {
      const { caller, operation, error, surface, status, requestId, itemIndex, clientReference, eventType } = refused;
      const now = clock.nowMicros();
      const nowMinute = Math.floor(now / minuteMicros);
      if (nowMinute !== minute) {
        minute = nowMinute;
        gathered.clear();
      }
      const group = JSON.stringify([
        minute,
        caller.callerId,
        operation,
        error.code,
        groupParam(error.param),
        eventType,
      ]);
      metrics.gathered();
      if (!takeRoom(group, caller.propertyId)) {
        count(refused, now, group);
        return;
      }
      const sent = refused.readPayload();
      const payload = sent && cutText(sent, payloadBytesMax);
      const write: Write = {
        id: encodeId("rej", refused.id ?? rejectionIdAt(now)),
        propertyId: caller.propertyId,
        rejectedAt: toTimestamp(now),
        operation,
        surface,
        status,
        error: errorMessage(error),
        requestId,
        itemIndex,
        clientReference,
        eventType,
        keyId: caller.callerId,
        keyName: caller.name,
        installationId: caller.kind === "installation" ? caller.callerId : undefined,
        payload: payload?.toString(),
        payloadState:
          sent && payload ? (payload.length < sent.length ? PayloadState.TRUNCATED : PayloadState.KEPT) : undefined,
      };
      const size = sizeOf(write);
      bytes += size;
      const own = ofProperty.get(caller.propertyId) ?? { writes: 0, bytes: 0 };
      ofProperty.set(caller.propertyId, { writes: own.writes + 1, bytes: own.bytes + size });
      writes.push(write);
    },
    async close() {
      await repeated.close();
      for (let attempt = 0; attempt < lastAttemptsMax; attempt++) {
        await tell();
        if (telling.length + writes.length + counts.size === 0) return;
      }
      log.error({ writes: telling.length + writes.length }, "refused writes are lost, because nobody could be told");
    },
  };
}

function showMetrics(registry: Registry, waiting: () => number) {
  const gathered = new Counter({
    name: "daybook_rejected_writes_total",
    help: "Writes that were refused for good, and are told to the event service.",
    registers: [registry],
  });
  const lost = new Counter({
    name: "daybook_rejected_writes_lost_total",
    help: "Refused writes that were neither kept nor counted, because a limit was reached or nobody could be told.",
    registers: [registry],
  });
  const gauge: Gauge = new Gauge({
    name: "daybook_rejected_writes_waiting",
    help: "Refused writes that wait to be told to the event service.",
    registers: [registry],
    collect: () => gauge.set(waiting()),
  });
  return { gathered: () => gathered.inc(), lost: (count: number) => lost.inc(count) };
}
