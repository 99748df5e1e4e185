/** Plans of statements on tables that have no statistics yet, which PostgreSQL keeps for a while: each takes the index that stays right. */
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createLocalBus } from "#shared/bus/local.ts";
import { systemClock } from "#shared/values/clock.ts";
import { toUuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { createReads } from "#shared/database/reads.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { outboxStatements } from "#shared/outbox/sql.ts";
import { eventJobs } from "../../services/event/jobs.ts";
import { createPartitions } from "../../services/event/maintenance.ts";
import { findKeys } from "../../services/event/sql/dedupe-keys.ts";
import { readEvents } from "../../services/event/sql/events.ts";
import { listEvents } from "../../services/event/sql/list.ts";
import {
  emptyEvents,
  findAnonymous,
  findAnonymousUnder,
  findLastEvents,
  findReceivedSince,
  linkEvents,
} from "../../services/event/sql/profile-events.ts";
import { readWatermark } from "../../services/event/sql/writers.ts";
import { findBatches } from "../../services/metric/sql/batches.ts";
import { noteKeyUse } from "../../services/identity/sql/keys.ts";
import { findOperations } from "../../services/identity/sql/operations.ts";
import { leaseRequests, returnRequests } from "../../services/identity/sql/rate-windows.ts";
import { lockMetrics, updateMetrics } from "../../services/metric/sql/metrics.ts";
import { findMerges, findNumbers } from "../../services/metric/sql/profiles.ts";
import { readSets, readSetsWithin, sumRollups } from "../../services/metric/sql/rollups.ts";
import { describeMetric } from "../../services/metric/sql/registrations.ts";
import { importJobs } from "../../services/profile/imports.ts";
import { readNewestAttributes, readSchema, writeSchema } from "../../services/profile/sql/attribute-schemas.ts";
import { importErrors, listImportedProfiles } from "../../services/profile/sql/imports.ts";
import { findOwners } from "../../services/profile/sql/identifiers.ts";
import { listProfiles } from "../../services/profile/sql/list.ts";
import {
  findSources,
  findSurvivors,
  listMerges,
  mergeAway,
  pointToSurvivor,
} from "../../services/profile/sql/merges.ts";
import { findOperations as findDoneOperations } from "../../services/profile/sql/operations.ts";
import {
  findTargets,
  lockProfile,
  readProfiles,
  readProfilesByIdentifiers,
  redactProfile,
  writeProfiles,
} from "../../services/profile/sql/profiles.ts";
import { createDatabase } from "../support/database.ts";

const owner = new Owner();
let client: pg.Client;

beforeAll(async () => {
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  const log = createLog("test", "silent");
  const database = openDatabase({ url, applicationName: "test", connectionsMax: 2, log });
  owner.defer(() => database.end());
  await migrate(database, "profile", "services/profile/migrations");
  await migrate(database, "event", "services/event/migrations");
  await migrate(database, "identity", "services/identity/migrations");
  await migrate(database, "metric", "services/metric/migrations");
  const bus = createLocalBus(log);
  await createPartitions({
    database,
    reads: createReads(database, log),
    bus,
    clock: systemClock,
    log,
    registry: createRegistry(),
  });
  client = new pg.Client({ connectionString: url });
  await client.connect();
  owner.defer(() => client.end());
  await client.query("SET plan_cache_mode = force_generic_plan");
});
afterAll(() => owner.close());

interface PlanNode {
  "Index Name"?: string;
  "Node Type": string;
  Alias?: string;
  Plans?: PlanNode[];
}

/** The indexes that a statement reads the big tables by; a table that is read from end to end is named instead. */
async function indexesOf(run: (database: Database) => Promise<unknown>): Promise<string[]> {
  const found = new Set<string>();
  const visit = (node: PlanNode): void => {
    const name = node["Index Name"] ?? (node["Node Type"] === "Seq Scan" ? `all of ${node.Alias}` : undefined);
    // Partitions have the index of their table under a name of their own; which properties have references is in a small table.
    if (name !== undefined && !/ref_properties|all of r$/.test(name))
      found.add(name.replace(/^events_\d{4}_\d\d_/, "events_"));
    for (const child of node.Plans ?? []) visit(child);
  };
  const explain = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      await client.query(`PREPARE looked_at AS ${text}`);
      const literals = values.length > 0 ? `(${values.map((value) => literalOf(value)).join(", ")})` : "";
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE looked_at ${literals}`);
      await client.query("DEALLOCATE looked_at");
      visit(rows[0]["QUERY PLAN"][0].Plan);
      return { rows: [] };
    },
  };
  await run(explain as unknown as Database);
  return [...found].toSorted();
}

function literalOf(value: unknown): string {
  if (value === null) return "NULL";
  return Array.isArray(value) ? `'{${value.join(",")}}'` : `'${value as string | number}'`;
}

const id = toUuid("01980000-0000-7000-8000-000000000001");
const now = "2026-11-20T00:00:00Z" as Instant;
const any = { from: undefined, before: undefined };
const profiles = { property: id, status: "active", createdAt: any, updatedAt: any, limit: 51 };
const events = { property: id, occurredAt: any, receivedAt: any, limit: 51 };
const byProfile = "identifiers_property_id_profile_id_id_key";

const outbox = outboxStatements("event");

const cases: [string, (database: Database) => Promise<unknown>, string[]][] = [
  ["profiles by id", (db) => readProfiles(db, [id, [id]]), [byProfile, "profiles_pkey"]],
  [
    "profiles by identifiers",
    (db) => readProfilesByIdentifiers(db, [id, ["email"], ["a"]]),
    ["identifiers_pkey", byProfile, "profiles_pkey"],
  ],
  ["what is known of profiles", (db) => findTargets(db, [id, [id]]), ["profiles_pkey"]],
  ["a lock", (db) => lockProfile(db, [id, id]), ["profiles_pkey"]],
  ["a redaction", (db) => redactProfile(db, [id, id, 1, now]), ["profiles_pkey"]],
  [
    "writes",
    (db) =>
      writeProfiles(db, [
        id,
        [id],
        [1],
        ["{}"],
        ["{}"],
        ["[]"],
        [now],
        ...Array.from({ length: 15 }, () => []),
        "subject",
        [2],
      ]),
    ["profiles_pkey"],
  ],
  ["owners", (db) => findOwners(db, [id, ["email"], ["a"]]), ["identifiers_pkey"]],
  ["survivors", (db) => findSurvivors(db, [id, [id]]), ["profiles_pkey"]],
  ["sources", (db) => findSources(db, [id, [id]]), ["profiles_merged", "profiles_pkey"]],
  ["a merge", (db) => mergeAway(db, [id, id, id, now]), ["profiles_pkey"]],
  ["what was merged before", (db) => pointToSurvivor(db, [id, id, id, now]), ["profiles_merged"]],
  [
    "a list by creation",
    (db) => listProfiles(db, { sort: "created_at", ascending: false }, profiles),
    [byProfile, "profiles_created"],
  ],
  [
    "a page of a list by change",
    (db) => listProfiles(db, { sort: "updated_at", ascending: true }, { ...profiles, after: [now, id] }),
    [byProfile, "profiles_updated"],
  ],
  [
    "a list of one profile",
    (db) => listProfiles(db, { sort: "created_at", ascending: false }, { ...profiles, ids: [id] }),
    [byProfile, "profiles_pkey"],
  ],
  [
    "a page of a list by id",
    (db) => listProfiles(db, { sort: "id", ascending: true }, { ...profiles, after: [id] }),
    [byProfile, "profiles_pkey"],
  ],
  [
    "a list by email",
    (db) => listProfiles(db, { sort: "email", ascending: true }, profiles),
    [byProfile, "identifiers_pkey", "profiles_pkey"],
  ],
  [
    "a page of a list by email",
    (db) => listProfiles(db, { sort: "email", ascending: false }, { ...profiles, after: ["a@example.com"] }),
    [byProfile, "identifiers_pkey", "profiles_pkey"],
  ],
  [
    "a list of some profiles by email",
    (db) => listProfiles(db, { sort: "email", ascending: true }, { ...profiles, ids: [id] }),
    [byProfile, "profiles_pkey"],
  ],
  [
    "a page of a list of profiles without an email",
    (db) => listProfiles(db, { sort: "without_email", ascending: true }, { ...profiles, after: [id] }),
    [byProfile, "profiles_pkey"],
  ],
  ["an import job", (db) => importJobs.statements.find(db, [id, id, now]), ["import_jobs_pkey"]],
  [
    "import jobs",
    (db) => importJobs.statements.listDescending(db, [id, now, true, true, true, id, 10]),
    ["import_jobs_pkey"],
  ],
  ["imported profiles", (db) => listImportedProfiles(db, [id, id, id, 10]), ["import_profiles_pkey"]],
  ["import errors", (db) => importErrors.list(db, [id, id, 1, 10]), ["import_errors_pkey"]],
  ["a chunk of a job", (db) => eventJobs.statements.readChunk(db, [id, id, 1]), ["job_chunks_pkey"]],
  [
    "a chunk of a job that is finished",
    (db) => eventJobs.statements.finishChunk(db, [id, id, 1, 1, 1, now]),
    ["job_chunks_pkey", "jobs_pkey"],
  ],
  ["the schema of attributes", (db) => readSchema(db, [id]), ["attribute_schemas_pkey"]],
  ["a schema that is written", (db) => writeSchema(db, [id, "{}", true]), ["attribute_schemas_pkey"]],
  ["the newest attributes", (db) => readNewestAttributes(db, [id, id, 50]), ["profiles_pkey"]],
  ["events by id", (db) => readEvents(db, [id, [id]]), ["events_pkey"]],
  ["anonymous events by id", (db) => findAnonymous(db, [id, [id]]), ["events_pkey"]],
  [
    "anonymous events by identifier",
    (db) => findAnonymousUnder(db, [id, ["card"], ["1"]]),
    ["events_property_id_identifier_type_identifier_value_idx"],
  ],
  [
    "events to link",
    (db) => linkEvents(db, [id, id, "card", "1", 10]),
    ["events_pkey", "events_property_id_identifier_type_identifier_value_idx"],
  ],
  [
    "events to empty",
    (db) => emptyEvents(db, [id, [id], 10]),
    ["events_pkey", "events_property_id_profile_id_occurred_at_id_idx"],
  ],
  [
    "events of a profile that were received since",
    (db) => findReceivedSince(db, [id, id, now, now, id, 10]),
    ["events_property_id_profile_id_occurred_at_id_idx"],
  ],
  [
    "events as they happened",
    (db) => listEvents(db, { sort: "occurred_at", ascending: false }, events),
    ["events_property_id_occurred_at_id_idx"],
  ],
  [
    "a page of events as they were received",
    (db) => listEvents(db, { sort: "received_at", ascending: true }, { ...events, after: { time: now, id } }),
    ["events_property_id_received_at_id_idx"],
  ],
  [
    "events of profiles",
    (db) => listEvents(db, { sort: "occurred_at", ascending: false }, { ...events, profiles: [id] }),
    ["events_property_id_profile_id_occurred_at_id_idx"],
  ],
  [
    "the last events of profiles",
    (db) => findLastEvents(db, [id, [id], [id]]),
    ["events_property_id_profile_id_occurred_at_id_idx"],
  ],
  [
    "events of a type",
    (db) => listEvents(db, { sort: "occurred_at", ascending: false }, { ...events, type: "a.b" }),
    ["events_property_id_type_occurred_at_id_idx"],
  ],
  [
    "events of the platform's own",
    (db) => listEvents(db, { sort: "occurred_at", ascending: false }, { ...events, source: "system" }),
    ["events_property_id_source_occurred_at_id_idx"],
  ],
  ["keys of events", (db) => findKeys(db, [id, ["dedupe_id"], ["a"], now]), ["dedupe_keys_pkey"]],
  ["how far recording is", (db) => readWatermark(db, [id, "a", now, 1]), ["all of recorders", "outbox_pkey"]],
  ["merges since one", (db) => listMerges(db, [id, id, 1]), ["merges_pkey"]],
  ["metrics to write to", (db) => lockMetrics(db, [id, ["a.b"]]), ["metrics_property_id_name_key"]],
  [
    "metrics that are written",
    (db) => updateMetrics(db, [id, [id], [1], [now], ["api"], ["{}"], [now], [now], [now], ["A"], [now]]),
    ["metrics_pkey"],
  ],
  ["batches that were taken", (db) => findBatches(db, [id, [id]]), ["batches_pkey"]],
  ["numbers of profiles", (db) => findNumbers(db, [id, [id]]), ["profiles_pkey"]],
  ["survivors by number", (db) => findMerges(db, [id, [1]]), ["merges_pkey"]],
  ["sums of roll-ups", (db) => sumRollups(db, [id, id, 1, now, now, [now], null, null]), ["rollups_pkey"]],
  [
    "sets of a range",
    (db) => readSetsWithin(db, [id, id, 1, now, now, [now], null, null, now, "", "", 10]),
    ["rollup_profiles_pkey"],
  ],
  ["sets to add to", (db) => readSets(db, [id, 1, [id], [now], ["a"], ["EUR"]]), ["rollup_profiles_pkey"]],
  ["a metric that is described", (db) => describeMetric(db, [id, id, "x", "a"]), ["metrics_property_id_name_key"]],
  ["leases", (db) => leaseRequests(db, [[id], [id], ["ordinary"], [now], [1], [1], [4]]), ["keys_pkey"]],
  ["leases given back", (db) => returnRequests(db, [[id], [id], ["ordinary"], [now], [1]]), ["rate_windows_pkey"]],
  ["use of keys", (db) => noteKeyUse(db, [[id], [id], [now]]), ["keys_pkey"]],
  ["answers of operations", (db) => findOperations(db, [[id], ["a"], now]), ["operations_pkey"]],
  ["operations on profiles", (db) => findDoneOperations(db, [id, [id], now]), ["operations_pkey"]],
  ["rows of an outbox that wait", (db) => outbox.take(db, []), ["outbox_waiting"]],
  ["rows that go at once", (db) => outbox.remove(db, [[id]]), ["outbox_waiting"]],
  ["rows that are published", (db) => outbox.note(db, [[id], "a", [1]]), ["outbox_waiting"]],
  ["rows that are refused", (db) => outbox.postpone(db, [[id], ["reason"]]), ["outbox_waiting"]],
  ["what is published", (db) => outbox.publishedSubjects(db, []), ["outbox_published"]],
  ["messages to rewrite", (db) => outbox.lock(db, [id, "a.b", id]), ["outbox_pkey"]],
];

test.each(cases)("%s", async (_name, run, expected) => {
  expect(await indexesOf(run)).toEqual(expected.toSorted());
});
