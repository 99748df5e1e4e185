/**
 * Plans of statements that are made while the tables have no statistics, as PostgreSQL keeps plans for a while: once
 * the tables are large, a statement still reads no table from end to end, and few pages.
 */
import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLocalBus } from "#shared/bus/local.ts";
import { systemClock } from "#shared/values/clock.ts";
import { highestUuid, lowestUuidAt } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { createReads } from "#shared/database/reads.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { outboxStatements } from "#shared/outbox/sql.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { eventJobs } from "../../services/event/jobs.ts";
import { createPartitions } from "../../services/event/maintenance.ts";
import { claimKeys, deleteExpiredKeys, findKeys } from "../../services/event/sql/dedupe-keys.ts";
import { countOfProfiles, countRecent } from "../../services/event/sql/counts.ts";
import { readEvents } from "../../services/event/sql/events.ts";
import { eventJobErrors } from "../../services/event/sql/job-errors.ts";
import { listEvents } from "../../services/event/sql/list.ts";
import {
  countAnonymousEvents,
  countReceived,
  emptyAnonymousEvents,
  emptyEvents,
  findAnonymous,
  findAnonymousEvents,
  findAnonymousUnder,
  findLastEvents,
  findReceivedSince,
  linkEvents,
} from "../../services/event/sql/profile-events.ts";
import {
  addCounts,
  deleteCounts,
  findDueReports,
  findOldCounts,
  findOldTold,
  readGroups,
  readUnreported,
  summarize,
} from "../../services/event/sql/rejected-counts.ts";
import {
  deletePayloadsOf,
  findOldPayloads,
  findOldWrites,
  listWrites,
  readSamples,
  readTexts,
  readWrite,
} from "../../services/event/sql/rejected-writes.ts";
import { tailEvents } from "../../services/event/sql/tail.ts";
import { readLowestWatermark, readWatermark } from "../../services/event/sql/writers.ts";
import { operations as metricOperations } from "../../services/metric/sql/operations.ts";
import { listInstalledApps, listSecrets } from "../../services/identity/sql/apps.ts";
import { noteUse } from "../../services/identity/sql/caller-uses.ts";
import { describeKeys } from "../../services/identity/sql/keys.ts";
import {
  describeInstallations,
  endGrant,
  endOfApp,
  findGrant,
  findInstallation,
  listChanged,
  listOfAll,
  listOfApp,
  listOfProperty,
  storeConsent,
} from "../../services/identity/sql/installations.ts";
import {
  consumeArtifact,
  deleteArtifactsOfGrant,
  findAccessToken,
  findConsumed,
  noteTokenUse,
  storeArtifact,
  trimArtifacts,
} from "../../services/identity/sql/oauth-artifacts.ts";
import { findHeldKeys, findOperations, forgetRecorded } from "../../services/identity/sql/operations.ts";
import { leaseRequests, listRateWindows, returnRequests } from "../../services/identity/sql/rate-windows.ts";
import { countByDay, sumActivity } from "../../services/metric/sql/activity.ts";
import { lockMetrics, updateMetrics } from "../../services/metric/sql/metrics.ts";
import { closeDay, findDaysToClose, postponeDay, readOpenDays } from "../../services/metric/sql/open-days.ts";
import { findMerges, findOrdinals } from "../../services/metric/sql/profiles.ts";
import { readSets, readSetsWithin, sumRollups } from "../../services/metric/sql/rollups.ts";
import { describeMetric } from "../../services/metric/sql/registrations.ts";
import { importJobs } from "../../services/profile/imports.ts";
import { readNewestAttributes, readSchema, writeSchema } from "../../services/profile/sql/attribute-schemas.ts";
import { importErrors, listImportedProfiles } from "../../services/profile/sql/imports.ts";
import { findByRef, findIdentifierTypes } from "../../services/profile/sql/finding.ts";
import { findOwners } from "../../services/profile/sql/identifiers.ts";
import { listProfiles } from "../../services/profile/sql/list.ts";
import {
  findSources,
  findSurvivors,
  countSources,
  listMerges,
  listMergesOf,
  mergeAway,
  pointToSurvivor,
} from "../../services/profile/sql/merges.ts";
import { operations as profileOperations } from "../../services/profile/sql/operations.ts";
import { findRequestByReference, listRequests, readRequest } from "../../services/profile/sql/privacy-requests.ts";
import { endStreams, findDueRequests, findEndedStreams } from "../../services/profile/sql/privacy-work.ts";
import {
  findTargets,
  lockProfile,
  readProfiles,
  readProfilesByIdentifiers,
  redactProfile,
  writeProfiles,
} from "../../services/profile/sql/profiles.ts";
import { listSuppressions } from "../../services/profile/sql/suppressions.ts";
import { findEnding, findOfApps } from "../../services/webhook/sql/apps.ts";
import { claimDue } from "../../services/webhook/sql/deliveries.ts";
import { listDeliveries, readDelivery } from "../../services/webhook/sql/delivery-reads.ts";
import { countEndpoints, readEndpoint } from "../../services/webhook/sql/endpoints.ts";
import { findSubscribers } from "../../services/webhook/sql/messages.ts";
import { pageOwned } from "../../services/webhook/sql/owners.ts";
import {
  cancelDeliveriesOf,
  emptyMessages,
  linkMessages,
  pageMessagesOf,
  pageReports,
} from "../../services/webhook/sql/persons.ts";
import { findDeliveries, findProcessing, pageStored } from "../../services/webhook/sql/replays.ts";
import { deleteOldDeliveries, deleteOldMessages } from "../../services/webhook/sql/retention.ts";
import { cancelPending, findUnsettled } from "../../services/webhook/sql/settling.ts";
import { findTests } from "../../services/webhook/sql/tests.ts";
import { fillTables } from "../support/full-tables.ts";

const owner = new Owner();
let client: pg.Client;

beforeAll(async () => {
  // A server of its own: what others change in theirs can make PostgreSQL plan again, now that tables are large.
  const folder = await mkdtemp(join(tmpdir(), "daybook-plans-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url } = owner.own(await startPostgres(join(folder, "postgres"), "secret"));
  const log = createLog("test", "silent");
  const database = openDatabase({ url, applicationName: "test", connectionsMax: 2, log });
  owner.defer(() => database.end());
  await migrate(database, "profile", "services/profile/migrations");
  await migrate(database, "event", "services/event/migrations");
  await migrate(database, "identity", "services/identity/migrations");
  await migrate(database, "metric", "services/metric/migrations");
  await migrate(database, "webhook", "services/webhook/migrations");
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
  // Statistics would have the statements planned again.
  await client.query(`
    DO $$ DECLARE name regclass; BEGIN
      FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('identity', 'profile', 'event', 'metric', 'webhook')
      LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name); END LOOP;
    END $$`);
  for (const [index, [, run]] of cases.entries()) await run(preparing(index));
  for (const schema of ["identity", "profile", "event", "metric", "webhook"]) await fillTables(client, schema, id, now);
});
afterAll(() => owner.close());

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: PlanNode[];
}

// Of 8 KB. A read of all rows of any of the large tables takes more.
const buffersMax = 40;

const prepared: string[] = [];

/** A database that prepares and plans a statement, as the one of a case. */
function preparing(index: number): Database {
  const database = {
    async query({ text, values }: { text: string; values: Value[] }) {
      const literals = values.length > 0 ? `(${values.map((value) => literalOf(value)).join(", ")})` : "";
      prepared[index] = `EXECUTE case_${index} ${literals}`;
      await client.query(`PREPARE case_${index} AS ${text}`);
      await client.query(`EXPLAIN ${prepared[index]}`);
      return { rows: [] };
    },
  };
  return database as unknown as Database;
}

/**
 * Executes the statement of a case.
 * @returns the tables that it read from end to end, and how many buffers it took, if they are many.
 */
async function faultsOf(index: number, buffersAllowed: number): Promise<unknown[]> {
  const faults: unknown[] = [];
  const visit = (node: PlanNode): void => {
    const table = node["Relation Name"];
    if (node["Node Type"] === "Seq Scan" && table && !smallTables.has(table)) faults.push(`all of ${table}`);
    for (const child of node.Plans ?? []) visit(child);
  };
  await client.query("BEGIN");
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${prepared[index]}`);
  await client.query("ROLLBACK");
  const plan = rows[0]["QUERY PLAN"][0].Plan as PlanNode;
  visit(plan);
  const buffers = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  return buffers > buffersAllowed ? [...faults, { buffers }] : faults;
}

// A row for each property, or for each process.
const smallTables = new Set(["ref_properties", "writers", "properties", "type_counts", "registrations"]);

type Value = string | number | boolean | null | Buffer | Value[];

function literalOf(value: Value): string {
  if (value === null) return "NULL";
  if (Buffer.isBuffer(value)) return `'\\x${value.toString("hex")}'`;
  return pg.escapeLiteral(Array.isArray(value) ? `{${value.map(elementOf).join(",")}}` : String(value));
}

function elementOf(value: Value): string {
  if (value === null) return "NULL";
  return `"${String(value).replaceAll(/["\\]/g, "\\$&")}"`;
}

// Of this month, of which there is a partition.
const id = lowestUuidAt(Date.now());
const now = "2026-11-20T00:00:00Z" as Instant;
// After every row.
const later = "2099-01-01T00:00:00Z" as Instant;
const any = { from: undefined, before: undefined };
const privacyRequests = { property: id, dueAt: any, createdAt: any, limit: 1 };
const profiles = { property: id, status: "active", createdAt: any, updatedAt: any, limit: 1 };
const events = { property: id, occurredAt: any, receivedAt: any, limit: 1 };

const email = { type: "email", value: "a" };
const window = { property_id: id, caller_id: id, name: "ordinary", starts_at: now };
const edit = { id, version: 0, new_version: 1, attributes: "{}", location: "{}", tags: "[]", updated_at: now };
const metric = {
  id,
  count: 1,
  first_seen_at: now,
  source: "api",
  schema: "{}",
  first_occurred_at: now,
  last_occurred_at: now,
  last_received_at: now,
  original_name: "A",
  original_name_at: now,
};
const claimed = { kind: "dedupe_id", key: "a", event_id: id, fingerprint: null, expires_at: now };
// As fillTables makes them.
const tokenHash = hash("sha256", "1", "buffer");
const outbox = outboxStatements("event");
const rejections = { property: id, from: id, before: highestUuid, rejectedAt: any, limit: 10 };
const rejectedCount = {
  minute: now,
  group_digest: tokenHash,
  operation: "a",
  code: "a",
  param: null,
  event_type: null,
  key_id: "a",
  key_name: "a",
  severity: 1,
  count: 1,
  kept_count: 1,
  first_at: now,
  last_at: now,
};

// All import jobs of a property, which are few; all messages of a property that wait; a round of the outbox;
// all processes; all metrics of a property, of which there are at most 20,000; all installations of a property, which
// are at most one for each app.
const [ofAllJobs, ofAllMessages, ofRound, ofAllWriters, ofAllMetrics] = [400, 400, 400, 100, 4000];
const ofAllInstallations = 400;
// All endpoints of a property, which are 20, and one for each app that is installed.
const ofAllEndpoints = 600;
// The groups of refused writes of a property: without statistics PostgreSQL skips through them.
const ofAllGroups = 120;
// All privacy requests of a property: people ask seldom.
const ofAllRequests = 400;
// A message that is written again, in each of its indexes.
const ofAllIndexes = 120;

const cases: [string, (database: Database) => Promise<unknown>, number?][] = [
  ["profiles by id", (db) => readProfiles(db, [id, [id]])],
  ["profiles by identifiers", (db) => readProfilesByIdentifiers(db, [id, [email]])],
  ["what is known of profiles", (db) => findTargets(db, [id, [id]])],
  ["a lock", (db) => lockProfile(db, [id, id])],
  ["a redaction", (db) => redactProfile(db, [id, id, 1, now])],
  ["writes", (db) => writeProfiles(db, [id, "a.b", [edit], [], [], []])],
  ["owners", (db) => findOwners(db, [id, [email]])],
  ["survivors", (db) => findSurvivors(db, [id, [id]])],
  ["sources", (db) => findSources(db, [id, [id]])],
  ["a merge", (db) => mergeAway(db, [id, id, id, now])],
  ["what was merged before", (db) => pointToSurvivor(db, [id, id, id, now])],
  ["a list by creation", (db) => listProfiles(db, { sort: "created_at", ascending: false }, profiles)],
  [
    "a page of a list by change",
    (db) => listProfiles(db, { sort: "updated_at", ascending: true }, { ...profiles, after: [now, id] }),
  ],
  [
    "a list of one profile",
    (db) => listProfiles(db, { sort: "created_at", ascending: false }, { ...profiles, ids: [id] }),
  ],
  ["a page of a list by id", (db) => listProfiles(db, { sort: "id", ascending: true }, { ...profiles, after: [id] })],
  ["a list by email", (db) => listProfiles(db, { sort: "email", ascending: true }, profiles)],
  [
    "a page of a list by email",
    (db) => listProfiles(db, { sort: "email", ascending: false }, { ...profiles, after: ["a@example.com"] }),
  ],
  [
    "a list of some profiles by email",
    (db) => listProfiles(db, { sort: "email", ascending: true }, { ...profiles, ids: [id] }),
  ],
  [
    "a page of a list of profiles without an email",
    (db) => listProfiles(db, { sort: "without_email", ascending: true }, { ...profiles, after: [id] }),
  ],
  ["an import job", (db) => importJobs.statements.find(db, [id, id, now])],
  ["import jobs", (db) => importJobs.statements.listDescending(db, [id, now, true, true, true, id, 10]), ofAllJobs],
  ["imported profiles", (db) => listImportedProfiles(db, [id, id, id, 10])],
  ["import errors", (db) => importErrors.list(db, [id, id, 1, 10])],
  ["a chunk of a job", (db) => eventJobs.statements.readChunk(db, [id, id, 1])],
  ["a chunk of a job that is finished", (db) => eventJobs.statements.finishChunk(db, [id, id, 1, 1, 1, now])],
  ["the schema of attributes", (db) => readSchema(db, [id])],
  ["a schema that is written", (db) => writeSchema(db, [id, "{}"])],
  ["the newest attributes", (db) => readNewestAttributes(db, [id, id, 10])],
  ["events by id", (db) => readEvents(db, [id, [id]])],
  ["anonymous events by id", (db) => findAnonymous(db, [id, [id]])],
  ["anonymous events by identifier", (db) => findAnonymousUnder(db, [id, [{ type: "card", value: "1" }]])],
  ["events to link", (db) => linkEvents(db, [id, id, "card", "1", 10])],
  ["events to empty", (db) => emptyEvents(db, [id, [id], 10])],
  ["events of a profile that were received since", (db) => findReceivedSince(db, [id, id, now, now, id, 10])],
  ["events as they happened", (db) => listEvents(db, { sort: "occurred_at", ascending: false }, events)],
  [
    "a page of events as they were received",
    (db) => listEvents(db, { sort: "received_at", ascending: true }, { ...events, after: { time: now, id } }),
  ],
  [
    "events of profiles",
    (db) => listEvents(db, { sort: "occurred_at", ascending: false }, { ...events, profiles: [id] }),
  ],
  ["the last events of profiles", (db) => findLastEvents(db, [id, [{ profile_id: id, id }]])],
  ["events of a type", (db) => listEvents(db, { sort: "occurred_at", ascending: false }, { ...events, type: "a.b" })],
  [
    "events of the platform's own",
    (db) => listEvents(db, { sort: "occurred_at", ascending: false }, { ...events, source: "system" }),
  ],
  ["keys of events", (db) => findKeys(db, [id, now, [{ kind: "dedupe_id", key: "a" }]])],
  ["how far recording is", (db) => readWatermark(db, [id, "a", now, 1]), ofAllMessages],
  ["how far recording is, alone", (db) => readLowestWatermark(db, [now]), ofAllWriters],
  ["events since a position", (db) => tailEvents(db, [id, now, id, now, 10, 10, "a.b", "api", true, [id]])],
  ["events of profiles that are counted", (db) => countOfProfiles(db, [id, [id], 10])],
  ["events of the last minutes", (db) => countRecent(db, [id, now, now, 10])],
  ["refused items of a job of events", (db) => eventJobErrors.list(db, [id, id, 1, 10])],
  ["refused writes", (db) => listWrites(db, rejections)],
  ["refused writes of a code", (db) => listWrites(db, { ...rejections, code: "a" })],
  ["refused writes of a field and a code", (db) => listWrites(db, { ...rejections, code: "a", param: "b" })],
  ["refused writes of a type", (db) => listWrites(db, { ...rejections, event_type: "a" })],
  ["refused writes of a key and an operation", (db) => listWrites(db, { ...rejections, key_id: "a", operation: "b" })],
  ["refused writes of a request", (db) => listWrites(db, { ...rejections, request_id: "a" })],
  ["refused writes of a reference", (db) => listWrites(db, { ...rejections, client_reference: "a" })],
  ["a refused write", (db) => readWrite(db, [id, id, id]), ofAllGroups],
  ["some refused writes of groups", (db) => readSamples(db, [id, 3, id, [{ group_digest: tokenHash }]])],
  ["texts of refused writes", (db) => readTexts(db, [id, id, 3, 10])],
  ["bodies that are turned off", (db) => deletePayloadsOf(db, [id, 10])],
  ["old bodies", (db) => findOldPayloads(db, [id, 10])],
  ["old refused writes", (db) => findOldWrites(db, [id, 10])],
  ["groups of refused writes", (db) => readGroups(db, [id, [{ minute: now, group_digest: tokenHash }]])],
  ["counts of refused writes", (db) => addCounts(db, [id, [rejectedCount]])],
  [
    "a summary of refused writes",
    (db) => summarize(db, [id, now, "2026-11-20T01:00:00Z" as Instant, null, "a", null, null, null, null, 10]),
  ],
  ["what no report has told", (db) => readUnreported(db, [id, "a", 10])],
  ["reports that are due", (db) => findDueReports(db, [now, 10])],
  ["old counts of refused writes", (db) => findOldCounts(db, [now, 10])],
  ["old counts to delete", (db) => deleteCounts(db, [id, [{ minute: now, group_digest: tokenHash }]]), ofRound],
  ["old ids of refused writes", (db) => findOldTold(db, [now, 10])],
  ["merges of a profile", (db) => listMergesOf(db, [id, id, id, 10])],
  ["how many were merged into a profile", (db) => countSources(db, [id, id])],
  ["types of identifiers", (db) => findIdentifierTypes(db, [id, 3])],
  ["a profile by its reference", (db) => findByRef(db, [id, "a"])],
  ["the windows of keys", (db) => listRateWindows(db, [id, now, id, 5])],
  ["merges since one", (db) => listMerges(db, [id, id, 1])],
  ["metrics to write to", (db) => lockMetrics(db, [id, ["a.b"]])],
  ["metrics that are written", (db) => updateMetrics(db, [id, [metric]])],
  ["batches that were taken", (db) => metricOperations.find(db, [id, [id], now])],
  ["numbers of profiles", (db) => findOrdinals(db, [id, [id]])],
  ["survivors by number", (db) => findMerges(db, [id, [1]])],
  ["sums of roll-ups", (db) => sumRollups(db, [id, id, 1, null, null, now, now, [now]])],
  [
    "sets of a range",
    (db) =>
      readSetsWithin(db, [
        id,
        id,
        1,

        null,
        null,
        now,
        "",
        "",
        10,
        [{ minutes: 1440, starts_at: now, ends_at: now }],
      ]),
  ],
  ["open days of a metric", (db) => readOpenDays(db, [id, id, 1, now, now])],
  ["days to close", (db) => findDaysToClose(db, [now, 900, 10])],
  ["a day to close", (db) => closeDay(db, [id, id, 1, now])],
  ["a day to close later", (db) => postponeDay(db, [id, id, 1, now])],
  ["the days of some metrics", (db) => countByDay(db, [id, [id], 1, now, now, [now], 10])],
  ["the days of all metrics", (db) => sumActivity(db, [id, 1, now, now, [now], "a.b", 10]), ofAllMetrics],
  [
    "sets to add to",
    (db) => readSets(db, [id, 1, [{ metric_id: id, period: now, source: "a", currency: "EUR", at: 0 }]]),
  ],
  ["a metric that is described", (db) => describeMetric(db, [id, id, "x", "a"])],
  ["leases", (db) => leaseRequests(db, [[{ ...window, wanted: 1, limit_default: 1, part: 4 }]])],
  ["leases given back", (db) => returnRequests(db, [[{ ...window, count: 1 }]])],
  ["use of callers", (db) => noteUse(db, [[{ property_id: id, id, used_at: now }]])],
  ["apps of a property", (db) => listInstalledApps(db, [id, id, 5]), ofAllInstallations],
  ["secrets of apps", (db) => listSecrets(db, [[id]])],
  ["an installation", (db) => findInstallation(db, [id, id])],
  ["installations of a property", (db) => listOfProperty(db, [id, null, id, 5]), ofAllInstallations],
  ["installations of an app", (db) => listOfApp(db, [id, id, 5])],
  ["all installations", (db) => listOfAll(db, [id, 3])],
  ["installations that changed", (db) => listChanged(db, [later, id, 3])],
  ["installations that are described", (db) => describeInstallations(db, [[{ property_id: id, id }]])],
  ["keys that are described", (db) => describeKeys(db, [now, [{ property_id: id, id }]])],
  ["a consent", (db) => storeConsent(db, [id, id, id, [], "a", id, id, now])],
  ["the installation of a grant", (db) => findGrant(db, [id])],
  ["a grant that ends", (db) => endGrant(db, [id, "app", now])],
  ["installations of an app that end", (db) => endOfApp(db, [id, now])],
  ["an access token", (db) => findAccessToken(db, [tokenHash, now])],
  ["an access token that is used", (db) => noteTokenUse(db, [tokenHash, now])],
  ["a token to keep", (db) => storeArtifact(db, ["refresh_token", tokenHash, "{}", id, null, tokenHash, now])],
  ["a token that is used", (db) => consumeArtifact(db, ["access_token", tokenHash, now])],
  ["a token that is used again", (db) => findConsumed(db, ["access_token", tokenHash, now])],
  ["tokens beyond those that are kept", (db) => trimArtifacts(db, [id, "access_token", 10_000])],
  ["tokens of a grant that ended", (db) => deleteArtifactsOfGrant(db, [id])],
  ["answers of operations", (db) => findOperations(db, [now, [{ property_id: id, key: "a" }]])],
  ["keys that are held", (db) => findHeldKeys(db, [id, now, ["a", "b"]])],
  ["what was recorded of events", (db) => forgetRecorded(db, [id, [highestUuid, id]])],
  ["privacy requests", (db) => listRequests(db, privacyRequests)],
  [
    "privacy requests after one",
    (db) => listRequests(db, { ...privacyRequests, type: "erasure", after: highestUuid }),
    320,
  ],
  ["privacy requests with a status", (db) => listRequests(db, { ...privacyRequests, statuses: ["failed"] })],
  ["privacy requests of a profile", (db) => listRequests(db, { ...privacyRequests, profile: id }), ofAllRequests],
  ["privacy requests with a reference", (db) => listRequests(db, { ...privacyRequests, reference: "a" })],
  [
    "privacy requests that are due",
    (db) => listRequests(db, { ...privacyRequests, dueAt: { from: now, before: now } }),
  ],
  [
    "privacy requests of a day",
    (db) => listRequests(db, { ...privacyRequests, createdAt: { from: now, before: now } }),
  ],
  ["a privacy request", (db) => readRequest(db, [id, id])],
  ["a privacy request by its reference", (db) => findRequestByReference(db, [id, "a", "access"])],
  ["privacy requests to work on", (db) => findDueRequests(db, [now, 10])],
  ["streams that have ended", (db) => findEndedStreams(db, [now, 10])],
  ["streams to end", (db) => endStreams(db, [id, [id], "[]", now])],
  ["suppressions", (db) => listSuppressions(db, [id, id, 10])],
  ["anonymous events under an identifier", (db) => findAnonymousEvents(db, [id, "a", "b", 10])],
  ["how many anonymous events are under an identifier", (db) => countAnonymousEvents(db, [id, "a", "b", now])],
  ["how many events of profiles were received", (db) => countReceived(db, [id, [id], now])],
  ["anonymous events that are emptied", (db) => emptyAnonymousEvents(db, [id, [id]])],
  ["operations on profiles", (db) => profileOperations.find(db, [id, [id], now])],
  ["rows of an outbox that wait", (db) => outbox.take(db, [id]), ofRound],
  ["properties whose rows wait", (db) => outbox.waiting(db, [id])],
  ["rows that go at once", (db) => outbox.remove(db, [id, [id]])],
  ["rows that are published", (db) => outbox.note(db, [id, "a", [{ id, sequence: 1 }]])],
  ["rows that are refused", (db) => outbox.postpone(db, [id, 1, [{ id, failure: "reason" }]])],
  ["the next subject that is published", (db) => outbox.nextPublished(db, ["", ""])],
  ["the last row of a subject that is published", (db) => outbox.lastPublished(db, ["a.b", "a"])],
  ["rows between two sequences", (db) => outbox.pageBetween(db, ["a.b", "a", 1, 9, 10])],
  ["rows that nobody claims", (db) => outbox.pageOlder(db, ["a.b", "a", 10, 10])],
  ["rows that were taken", (db) => outbox.removePublished(db, ["a.b", "a", [1, 2]])],
  ["rows of lost messages", (db) => outbox.unpublish(db, ["a.b", "a", [1, 2]])],
  ["rows to publish again", (db) => outbox.pagePublished(db, [id, id, 10]), ofAllMessages],
  ["rows that are published again", (db) => outbox.unpublishRows(db, [id, [id]])],
  ["expired keys of events", (db) => deleteExpiredKeys(db, [id, "dedupe_id", now, ["a"]])],
  ["keys to claim", (db) => claimKeys(db, [id, now, [{ ...claimed }]])],
  ["old jobs to delete", (db) => eventJobs.statements.deleteOld(db, [id, now, [id]])],
  ["expired operations", (db) => profileOperations.deleteExpiredRows(db, [id, now, [id]])],
  ["an endpoint", (db) => readEndpoint(db, [id, id])],
  ["endpoints of a property that are counted", (db) => countEndpoints(db, [id, id]), ofAllEndpoints],
  ["endpoints of the properties of a delivery", (db) => findSubscribers(db, [[id]]), ofAllEndpoints],
  ["endpoints with an owner", (db) => pageOwned(db, [id, id, 10])],
  ["endpoints of apps", (db) => findOfApps(db, [[id], [id]])],
  ["endpoints that are unsettled", (db) => findUnsettled(db, [10])],
  ["endpoints that end", (db) => findEnding(db, [10])],
  ["deliveries that are due", (db) => claimDue(db, [id, id, now, now, 10])],
  ["deliveries to endpoints", (db) => listDeliveries(db, { property: id, endpoints: [id], createdAt: any, limit: 10 })],
  [
    "a page of deliveries that failed",
    (db) =>
      listDeliveries(db, {
        property: id,
        endpoints: [id],
        status: "failed",
        createdAt: any,
        after: { time: now, id },
        limit: 10,
      }),
  ],
  ["a delivery", (db) => readDelivery(db, [id, id])],
  ["deliveries that are cancelled", (db) => cancelPending(db, [id, id, now, 10])],
  ["deliveries of messages to an endpoint", (db) => findDeliveries(db, [id, id, [id]])],
  ["tests of an endpoint", (db) => findTests(db, [id, id, now, 10])],
  ["reports of refused writes", (db) => pageReports(db, [id, id, 10])],
  ["messages of profiles", (db) => pageMessagesOf(db, [id, [id], id, 10])],
  ["messages that are emptied", (db) => emptyMessages(db, [id, [id]]), ofAllIndexes],
  ["deliveries of messages that are emptied", (db) => cancelDeliveriesOf(db, [id, [id], now])],
  ["messages of events that are linked", (db) => linkMessages(db, [id, [id]])],
  ["stored messages of a span", (db) => pageStored(db, [id, ["a.b"], now, now, now, id, 10])],
  ["replays that are under way", (db) => findProcessing(db, [id, 10])],
  ["old deliveries", (db) => deleteOldDeliveries(db, [id, now, 10])],
  ["old messages", (db) => deleteOldMessages(db, [id, now, 10])],
  ["messages to rewrite", (db) => outbox.lock(db, [id, "a.b", id]), ofRound],
];

test.each(cases.map(([name, , buffers = buffersMax], index) => [name, index, buffers] as const))(
  "%s",
  async (...row) => {
    const [, index, buffers] = row;
    expect(await faultsOf(index, buffers)).toEqual([]);
  },
);
