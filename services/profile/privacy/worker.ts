/**
 * Carries out privacy requests, step by step. Several processes may do so: each step is claimed for a while, may be
 * done again from its beginning, and ends in one transaction that only the holder of the claim can commit. So a process
 * that is killed at any instant loses nothing.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { PrivacyRequestSettledSchema } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import { newUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, type Instant } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { advanceRequest, claimRequest, findDueRequests, postponeRequest, type WorkRow } from "../sql/privacy-work.ts";
import { toPrivacyRequest } from "./mapping.ts";
import { stepsOf, Unreported, type Outcome } from "./steps.ts";

/** The subject that announces requests which are completed or have failed. */
export const settledSubject = "daybook.profile.privacy_settled";

export interface PrivacyWorker extends Closable {
  /** Looks for due requests now. */
  wake(): void;
  start(): void;
}

const lookIntervalMs = 1_000;
const lookRowsMax = 50;
/** Longer than a step takes. A step that takes longer is begun by another process too, and one of the two commits. */
const claimMicros = 60_000_000;
// About 50 minutes in all.
const triesMax = 12;
const pauseMaxSeconds = 600;

export function createPrivacyWorker(context: ProfileContext): PrivacyWorker {
  const { database, clock, log, relay } = context;
  let looking: ReturnType<typeof repeat> | undefined;
  const after = (micros: number): Instant => formatMicros(clock.nowMicros() + micros);

  async function work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const due = await findDueRequests(database, [after(0), lookRowsMax]);
      for (const { property_id: property, id } of due) {
        if (signal.aborted) return;
        await carryOn(property, id);
      }
      if (due.length < lookRowsMax) return;
    }
  }

  async function carryOn(property: Uuid, id: Uuid): Promise<void> {
    const claim = newUuid();
    const [row] = await claimRequest(database, [property, id, claim, after(0), after(claimMicros)]);
    if (!row) return;
    try {
      const outcome = await stepsOf(context)[row.step](row, claim);
      if ("waitSeconds" in outcome) {
        await postponeRequest(database, [property, id, claim, after(outcome.waitSeconds * 1_000_000)]);
      } else await finish(row, claim, outcome);
    } catch (error) {
      const isUnreported = error instanceof Unreported;
      log.warn(
        { err: error, privacyRequest: id, step: row.step, tries: row.tries },
        "a step of a privacy request failed",
      );
      if (row.tries < triesMax) {
        const pauseSeconds = Math.min(2 ** (row.tries - 1), pauseMaxSeconds);
        await postponeRequest(database, [property, id, claim, after(pauseSeconds * 1_000_000)]);
        return;
      }
      const message = isUnreported
        ? error.message
        : "The work failed again and again. The log of the profile service says why.";
      await finish(row, claim, {
        status: "failed",
        failure: { code: isUnreported ? "service_unavailable" : "internal_error", message },
      });
    }
  }

  /** Ends a step. What is announced commits with it. */
  async function finish(row: WorkRow, claim: Uuid, outcome: Exclude<Outcome, { waitSeconds: number }>): Promise<void> {
    const committed = await withTransaction(database, async (tx) => {
      const next = { ...row, ...outcome };
      const hasEnded = next.status !== "in_progress";
      const now = clock.nowMicros();
      const at = (micros: number | null): Instant | null => (micros === null ? null : formatMicros(micros));
      const [written] = await advanceRequest(tx, [
        row.property_id,
        row.id,
        claim,
        next.status,
        next.step,
        hasEnded ? null : after((outcome.delaySeconds ?? 0) * 1_000_000),
        next.profile_ids,
        next.held && JSON.stringify(next.held),
        next.counts && JSON.stringify(next.counts),
        next.not_reached,
        at(next.as_of),
        at(outcome.downloadUntil ?? null),
        next.failure && JSON.stringify(next.failure),
        formatMicros(now),
        hasEnded ? formatMicros(now) : null,
        JSON.stringify(outcome.reports ?? {}),
      ]);
      if (!written) return false;
      await outcome.within?.(tx);
      if (hasEnded) await announce(tx, toPrivacyRequest(written), row.property_id);
      return true;
    });
    if (!committed) return;
    relay.wake();
    looking?.wake();
  }

  function announce(tx: Transaction, request: ReturnType<typeof toPrivacyRequest>, property: Uuid): Promise<void> {
    const settled = create(PrivacyRequestSettledSchema, { changeId: newUuid(), request });
    return relay.enqueue(tx, property, settledSubject, toBinary(PrivacyRequestSettledSchema, settled));
  }

  return {
    wake: () => looking?.wake(),
    start() {
      looking ??= repeat(lookIntervalMs, log, "carry out privacy requests", work);
    },
    async close() {
      await looking?.close();
    },
  };
}
