/**
 * The steps of a privacy request. Each may be done again from its beginning:
 *
 * - begin: who is it about? Suppressions are made here, before anything is erased.
 * - count: the other services count what they have. A request for access is completed then.
 * - erase: the profiles are redacted.
 * - sweep: once no write that was under way can come any more, the other services empty what is left.
 * - close: nothing of the person is left in the outbox, on the bus or among the dead letters.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { PrivacyPhase, PrivacyWorkDueSchema } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { deleteReplaced } from "#shared/outbox/outbox.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import type { NormalIdentifier } from "#shared/values/identifiers.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { distinct, redactPerson } from "../redaction.ts";
import type { Counts, RequestRow, RequestStep } from "../sql/privacy-requests.ts";
import { findOwners } from "../sql/identifiers.ts";
import { readProfiles } from "../sql/profiles.ts";
import { endStreams, notePerson, type Reports, type WorkRow } from "../sql/privacy-work.ts";
import { clearMessages, workSubject } from "./clearing.ts";
import { countKept, emptyKept } from "./kept.ts";
import { findPerson } from "./person.ts";
import { suppress } from "./suppressing.ts";

/** What a step leads to: another look after a while, or changes of the request. */
export type Outcome =
  | { waitSeconds: number }
  | (Partial<Pick<RequestRow, "status" | "profile_ids" | "counts" | "not_reached" | "as_of" | "failure">> &
      Partial<Pick<WorkRow, "step" | "held" | "reports">> & {
        /** When the next step is due. */
        delaySeconds?: number;
        downloadUntil?: number;
        /** Runs in the transaction that ends the step. */
        within?: (tx: Transaction) => Promise<void>;
      });

/** Does a step of a claimed request. */
type Step = (row: WorkRow, claim: Uuid) => Promise<Outcome>;

/** The other services did not report in time. */
export class Unreported extends Error {}

/** The services that report, by the names of their parts. */
export const reportingParts = ["event", "webhook"] as const;

// Each try asks again, because a message may have become a dead letter.
const askAgainSecondsMin = 30;
const asksMax = 8;
const roundsMax = 10;
const downloadMicros = 7 * 24 * 60 * 60 * 1_000_000;
const sweepMarginSeconds = 5;
// A message of the bus has less than 1 MB.
const messageBytesMax = 900 * 1024;
// A backup or a partition is out of reach of the service.
const backups =
  "Backups of the databases are not reached: they hold what was stored when they were made, until they expire.";

export function stepsOf(context: ProfileContext): Record<RequestStep, Step> {
  const { database, clock, relay, redactionSweepSeconds } = context;

  async function begin(row: WorkRow): Promise<Outcome> {
    const { property_id: property } = row;
    const named = row.held?.named ?? [];
    const person = await findPerson(database, property, row.profile_ids, named);
    const known = distinct([...named, ...(row.held?.known ?? []), ...person.identifiers]);
    const counts: Counts = {
      profiles: person.profiles.length,
      identifiers: person.identifiers.length,
      import_errors: await countKept(database, property, person.profiles, known),
    };
    const asOf = row.as_of ?? clock.nowMicros();
    const next = { ...row, profile_ids: person.profiles, held: { named, known }, as_of: asOf };
    return {
      status: "in_progress",
      step: "count",
      profile_ids: person.profiles,
      held: next.held,
      as_of: asOf,
      reports: { profile: { counts, not_reached: [] } },
      delaySeconds: askAgainSecondsMin,
      async within(tx) {
        if (row.suppress) await suppress(tx, property, row.id, known, clock.nowMicros());
        await ask(tx, next, PrivacyPhase.COUNT);
      },
    };
  }

  /** Asks the other services for their part of the work. */
  async function ask(tx: Transaction, row: WorkRow, phase: PrivacyPhase): Promise<void> {
    const due = create(PrivacyWorkDueSchema, {
      propertyId: encodeId("prop", row.property_id),
      privacyRequestId: encodeId("priv", row.id),
      phase,
      profileIds: row.profile_ids.map((id) => encodeId("prof", id)),
      access: row.type === "access",
      asOf: toTimestamp(row.as_of),
    });
    let bytes = toBinary(PrivacyWorkDueSchema, due).length;
    // Those that were named come first. Redactions tell the others too, whatever their number.
    for (const { type, value } of distinct([...(row.held?.named ?? []), ...(row.held?.known ?? [])])) {
      bytes += Buffer.byteLength(type) + Buffer.byteLength(value) + 16;
      if (bytes > messageBytesMax) break;
      due.identifiers.push({ $typeName: "daybook.profile.v1.UnmatchedIdentifier", type, value });
    }
    await relay.enqueue(tx, row.property_id, workSubject, toBinary(PrivacyWorkDueSchema, due));
  }

  /** Asks again those that have not reported. @throws Unreported after many times. */
  async function askAgain(row: WorkRow, phase: PrivacyPhase): Promise<Outcome> {
    if (row.tries > asksMax) {
      const silent = reportingParts.filter((part) => !(part in row.reports)).join(" and ");
      throw new Unreported(`The ${silent} service did not do its part in time.`);
    }
    await withTransaction(database, (tx) => ask(tx, row, phase));
    relay.wake();
    return { waitSeconds: askAgainSecondsMin * 2 ** (row.tries - 1) };
  }

  async function count(row: WorkRow): Promise<Outcome> {
    if (!isReported(row.reports)) return askAgain(row, PrivacyPhase.COUNT);
    const counts = row.counts ?? totalOf(row.reports);
    const notReached = distinctTexts(row);
    if (row.type === "erasure") return { step: "erase", counts, not_reached: notReached };
    return {
      status: "completed",
      counts,
      not_reached: [],
      // The person was erased meanwhile: nothing is streamed.
      held: row.download_until === null ? { named: row.held?.named ?? [], known: [] } : null,
      downloadUntil: clock.nowMicros() + downloadMicros,
    };
  }

  async function erase(row: WorkRow, claim: Uuid): Promise<Outcome> {
    const { property_id: property, id } = row;
    const named = row.held?.named ?? [];
    let profiles = row.profile_ids;
    let known = row.held?.known ?? [];
    const done = new Set<Uuid>();
    // Profiles may be merged, and identifiers change hands, at any instant until the profile is redacted.
    for (let round = 1; ; round++) {
      const person = await findPerson(database, property, profiles, named);
      const open = person.survivors.filter((profile) => !done.has(profile));
      profiles = person.profiles;
      if (open.length === 0) break;
      if (round > roundsMax) throw new Error("the profiles of a person kept changing");
      for (const profile of open) {
        const { row: redacted } = await redactPerson(context, property, profile, {
          known,
          async within(tx, found) {
            profiles = [...new Set([...profiles, ...found.profiles])].toSorted();
            known = distinct([...known, ...found.known]);
            // The redaction deletes the identifiers, so they are noted with it.
            const held = JSON.stringify({ named, known });
            const [noted] = await notePerson(tx, [property, id, claim, profiles, held]);
            if (!noted) throw new Error("another process works on the request");
            if (row.suppress) await suppress(tx, property, id, found.known, clock.nowMicros());
          },
        });
        done.add(redacted.id);
      }
    }
    await emptyKept(database, property, profiles, known);
    await endStreams(database, [property, profiles, JSON.stringify(named), formatMicros(clock.nowMicros())]);
    return {
      step: "sweep",
      profile_ids: profiles,
      held: { named, known },
      delaySeconds: redactionSweepSeconds + sweepMarginSeconds,
    };
  }

  async function sweep(row: WorkRow): Promise<Outcome> {
    if (!isReported(row.reports)) return askAgain(row, PrivacyPhase.SWEEP);
    return { step: "close", not_reached: [...new Set([...distinctTexts(row), backups])] };
  }

  async function close(row: WorkRow): Promise<Outcome> {
    const { property_id: property, profile_ids: profiles, held } = row;
    const known = held?.known ?? [];
    const late = row.suppress ? await findLate(row, known) : [];
    if (late.length > 0) return { step: "erase", profile_ids: [...profiles, ...late].toSorted() };
    await emptyKept(database, property, profiles, known);
    const { replaced, isClear } = await clearMessages(context, property, row.id, profiles, known);
    await deleteReplaced(context.bus, replaced);
    if (!isClear) throw new Error("messages of the person are being published");
    return { status: "completed", held: null };
  }

  /**
   * Finds profiles of writes that looked for suppressions before they were made, and wrote after the redaction. A
   * profile that was there before is another person's.
   */
  async function findLate(row: WorkRow, known: readonly NormalIdentifier[]): Promise<Uuid[]> {
    const { property_id: property, as_of: asOf } = row;
    const owners = known.length === 0 ? [] : await findOwners(database, [property, known]);
    const profiles = await readProfiles(database, [property, owners.map(({ profile_id: id }) => id)]);
    return profiles.filter((profile) => profile.created_at >= (asOf ?? 0)).map(({ id }) => id);
  }

  return { begin, count, erase, sweep, close };
}

function isReported(reports: Reports): boolean {
  return reportingParts.every((part) => part in reports);
}

function totalOf(reports: Reports): Counts {
  const total: Record<string, number> = {};
  for (const { counts = {} } of Object.values(reports)) {
    for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value;
  }
  return total;
}

function distinctTexts({ not_reached: before, reports }: WorkRow): string[] {
  return [...new Set([...before, ...Object.values(reports).flatMap(({ not_reached: texts }) => texts)])];
}
