/** All statements that the services declare, and the forms of those that they build. */
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Queryable } from "#shared/database/postgres.ts";
import { outboxStatements } from "#shared/outbox/sql.ts";
import { formatMicros } from "#shared/values/time.ts";
import { newUuid } from "#shared/values/ids.ts";
import { eventJobs } from "../../services/event/jobs.ts";
import { aggregateEvents, type AggregateValues } from "../../services/event/sql/aggregate.ts";
import { listEvents, type ListValues as EventListValues } from "../../services/event/sql/list.ts";
import { importJobs } from "../../services/profile/imports.ts";
import { listProfiles, type ListValues as ProfileListValues } from "../../services/profile/sql/list.ts";

const services = ["identity", "profile", "event", "metric"];

/** Statements that the relay leaves out where `findSpread` says that the table is spread. */
export const oneServerOnly = ["event.outbox", "profile.outbox"].flatMap((outbox) =>
  ["takeOfAll", "removeOfAll", "noteOfAll"].map((name) => `${outbox}: ${name}`),
);

/** Statements of many properties, by the reason. */
export const manyProperties: Record<string, readonly string[]> = {
  "looks for properties that have work": [
    "event.outbox: waiting",
    "profile.outbox: waiting",
    "metric/sql/properties: findSilentRebuilds",
    "metric/sql/properties: findPropertyIds",
  ],
  "the sweep of an outbox: sequences count over all properties": ["event.outbox", "profile.outbox"].flatMap((outbox) =>
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
    ...["event.outbox", "profile.outbox"].flatMap((outbox) =>
      ["count", "measure", "size", "failing"].map((name) => `${outbox}: ${name}`),
    ),
    "metric/sql/properties: describeBuilding",
  ],
  "finds what has expired, of all properties": [
    "event/sql/dedupe-keys: findExpiredKeys",
    "event.jobs: findOld",
    "profile.import_jobs: findOld",
    "metric/sql/operations: operations: findExpired",
    "profile/sql/operations: operations: findExpired",
  ],
  "a delivery has messages of several properties": [
    "metric/sql/operations: operations: record",
    "profile/sql/operations: operations: record",
    "metric/sql/properties: readProperties",
    "metric/sql/properties: addProperties",
  ],
  "reads no row": ["event/sql/events: probe", "profile/sql/profiles: probe", "metric/sql/metrics: probe"],
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
  for (const schema of ["event", "profile"]) addAll(found, `${schema}.outbox`, outboxStatements(schema));
  addAll(found, "event.jobs", eventJobs.statements);
  addAll(found, "profile.import_jobs", importJobs.statements);
  for (const [name, build] of Object.entries({ listedEvents, listedProfiles, aggregatedEvents })) {
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
