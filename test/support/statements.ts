/** All statements that the services declare, and the forms of those that they build. */
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Queryable } from "#shared/database/postgres.ts";
import { outboxStatements } from "#shared/outbox/sql.ts";
import { formatMicros } from "#shared/values/time.ts";
import { newUuid } from "#shared/values/ids.ts";
import { eventJobs } from "../../services/event/jobs.ts";
import { aggregateEvents, type AggregateValues } from "../../services/event/sql/aggregate.ts";
import { insertEventsWithRequests } from "../../services/event/sql/events.ts";
import { listEvents, type ListValues as EventListValues } from "../../services/event/sql/list.ts";
import { listWrites, type RejectedListValues } from "../../services/event/sql/rejected-writes.ts";
import { requestClaims } from "../../services/identity/request-claims.ts";
import { importJobs } from "../../services/profile/imports.ts";
import { listRequests } from "../../services/profile/sql/privacy-requests.ts";
import { listProfiles, type ListValues as ProfileListValues } from "../../services/profile/sql/list.ts";

const services = ["identity", "profile", "event", "metric", "webhook"];

const outboxes = ["event.outbox", "profile.outbox", "metric.outbox"];

/** Statements that the relay leaves out where `findSpread` says that the table is spread. */
export const oneServerOnly = outboxes.flatMap((outbox) =>
  ["takeOfAll", "removeOfAll", "noteOfAll"].map((name) => `${outbox}: ${name}`),
);

/** Statements of many properties, by the reason. */
export const manyProperties: Record<string, readonly string[]> = {
  "looks for properties that have work": [
    ...outboxes.map((outbox) => `${outbox}: waiting`),
    "metric/sql/properties: findSilentRebuilds",
    "metric/sql/open-days: findDaysToClose",
    "metric/sql/properties: findPropertyIds",
    "event/sql/rejected-counts: findDueReports",
    "profile/sql/privacy-work: findDueRequests",
  ],
  "the sweep of an outbox: sequences count over all properties": outboxes.flatMap((outbox) =>
    [
      "nextPublished",
      "lastPublished",
      "pageBetween",
      "pageOlder",
      "pagePublished",
      "removePublished",
      "unpublish",
      "unpublishAbove",
    ].map((name) => `${outbox}: ${name}`),
  ),
  "runs only where one server has all properties": oneServerOnly,
  "tells operators of all properties": [
    ...outboxes.flatMap((outbox) => ["count", "measure", "size", "failing"].map((name) => `${outbox}: ${name}`)),
    "metric/sql/properties: describeBuilding",
    "webhook/sql/deliveries: measurePending",
    "webhook/sql/health: countOpen",
    "profile/sql/privacy-requests: countRequests",
  ],
  "finds what has expired, of all properties": [
    "event/sql/dedupe-keys: findExpiredKeys",
    "event/sql/rejected-counts: findOldCounts",
    "event/sql/rejected-counts: findOldReports",
    "event/sql/rejected-counts: findOldTold",
    "event/sql/rejected-writes: findOldPayloads",
    "event/sql/rejected-writes: findOldWrites",
    "event.jobs: findOld",
    "profile.import_jobs: findOld",
    "metric/sql/operations: operations: findExpired",
    "profile/sql/operations: operations: findExpired",
    "profile/sql/privacy-work: findEndedStreams",
  ],
  "a delivery has messages of several properties": [
    "metric/sql/operations: operations: record",
    "profile/sql/operations: operations: record",
    "metric/sql/properties: readProperties",
    "metric/sql/properties: addProperties",
  ],
  "looks for endpoints that have work": [
    "webhook/sql/apps: findEnding",
    "webhook/sql/apps: findOfApps",
    "webhook/sql/deliveries: findDue",
    "webhook/sql/health: readSending",
    "webhook/sql/owners: pageOwned",
    "webhook/sql/properties: pageProperties",
    "webhook/sql/replays: findProcessing",
    "webhook/sql/settling: findDeleted",
    "webhook/sql/settling: findUnsettled",
  ],
  "finds the endpoints of the properties of a delivery": [
    "webhook/sql/messages: findSubscribers",
    "webhook/sql/properties: findProperties",
  ],
  "reads no row": [
    "event/sql/events: probe",
    "profile/sql/profiles: probe",
    "metric/sql/metrics: probe",
    "webhook/sql/endpoints: probe",
  ],
};

/** The texts of all statements by name, such as `event/sql/list: form 3`. */
export async function allStatements(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const service of services) {
    const folder = join("services", service, "sql");
    for (const file of await readdir(folder)) {
      const module = (await import(resolve(folder, file))) as Record<string, unknown>;
      addAll(found, `${service}/sql/${file.replace(".ts", "")}`, module);
    }
  }
  for (const schema of ["event", "profile", "metric"]) addAll(found, `${schema}.outbox`, outboxStatements(schema));
  addAll(found, "event.jobs", eventJobs.statements);
  addAll(found, "profile.import_jobs", importJobs.statements);
  found.set("events with claims of requests", insertEventsWithRequests(requestClaims).text);
  const lists = { listedEvents, listedRejections, listedProfiles, listedRequests, aggregatedEvents };
  for (const [name, build] of Object.entries(lists)) {
    for (const [index, text] of [...(await build())].entries()) found.set(`${name} ${index}`, text);
  }
  return found;
}

function addAll(found: Map<string, string>, place: string, values: object): void {
  for (const [name, value] of Object.entries(values) as [string, unknown][]) {
    if (typeof value === "function" && "text" in value) found.set(`${place}: ${name}`, value.text as string);
    else if (typeof value === "object" && value !== null) addAll(found, `${place}: ${name}`, value);
  }
}

/** A database that notes what it is asked. */
function noting(): { texts: Set<string>; database: Queryable } {
  const texts = new Set<string>();
  return {
    texts,
    database: {
      query({ text }) {
        texts.add(text);
        return Promise.resolve({ rows: [] });
      },
    },
  };
}

const id = newUuid();
const now = formatMicros(0);
const ranges = [
  { from: undefined, before: undefined },
  { from: now, before: now },
];
const both = [false, true];

async function listedEvents(): Promise<Set<string>> {
  const { texts, database } = noting();
  const rest = { property: id, limit: 1 };
  for (const sort of ["occurred_at", "received_at"] as const)
    for (const ascending of both)
      for (const profiles of [undefined, [id]])
        for (const type of [undefined, "a.b"])
          for (const source of [undefined, "api", "system"])
            for (const range of ranges)
              for (const after of [undefined, { time: now, id }]) {
                const values: EventListValues = {
                  ...rest,
                  profiles,
                  type,
                  source,
                  occurredAt: range,
                  receivedAt: range,
                  after,
                };
                await listEvents(database, { sort, ascending }, { ...values, withoutSystem: type === undefined });
              }
  return texts;
}

async function listedRejections(): Promise<Set<string>> {
  const { texts, database } = noting();
  const filters = ["request_id", "client_reference", "param", "event_type", "code", "operation", "key_id"] as const;
  for (const filter of [undefined, ...filters])
    for (const severity of [undefined, 1])
      for (const rejectedAt of ranges) {
        const values: RejectedListValues = { property: id, from: id, before: id, rejectedAt, severity, limit: 1 };
        await listWrites(database, { ...values, ...(filter && { [filter]: "a" }) });
      }
  return texts;
}

async function listedProfiles(): Promise<Set<string>> {
  const { texts, database } = noting();
  const afters = { created_at: [now, id], updated_at: [now, id], id: [id], email: ["a"], without_email: [id] };
  for (const sort of ["created_at", "updated_at", "id", "email", "without_email"] as const)
    for (const ascending of both)
      for (const ids of [undefined, [id]])
        for (const tag of [undefined, "a"])
          for (const range of ranges)
            for (const after of [undefined, afters[sort]]) {
              const values: ProfileListValues = {
                property: id,
                status: "active",
                limit: 1,
                ids,
                tag,
                createdAt: range,
                updatedAt: range,
                after,
              };
              await listProfiles(database, { sort, ascending }, values);
            }
  return texts;
}

async function listedRequests(): Promise<Set<string>> {
  const { texts, database } = noting();
  for (const type of [undefined, "erasure"] as const)
    for (const statuses of [undefined, ["failed"]] as const)
      for (const profile of [undefined, id])
        for (const reference of [undefined, "a"])
          for (const range of ranges)
            for (const after of [undefined, id]) {
              const [dueAt, createdAt] = [range, range];
              const values = { property: id, type, statuses, profile, reference, dueAt, createdAt, after, limit: 1 };
              await listRequests(database, values);
            }
  return texts;
}

async function aggregatedEvents(): Promise<Set<string>> {
  const { texts, database } = noting();
  const path = { path: ["a", "b"] };
  const conditions: AggregateValues["conditions"] = [
    { field: "source", value: { string: "api" } },
    { field: "currency", value: null },
    { field: path, value: { number: "1" } },
    { field: path, value: { string: "x" } },
    { field: path, value: true },
    { field: { path: [""] }, value: null },
  ];
  for (const groupBy of [[], ["source", path]] as AggregateValues["groupBy"][])
    for (const some of [[], conditions])
      for (const withProfiles of both) {
        const values = { property: id, type: "a.b", bucketStarts: [now], to: now, eventsMax: 1 };
        await aggregateEvents(database, { ...values, groupBy, conditions: some, withProfiles });
      }
  return texts;
}
