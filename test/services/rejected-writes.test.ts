/** Refused writes: counts are exact whatever comes again, entries are limited, and reports come every 10 minutes. */
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import {
  PayloadState,
  RejectedWritesReportedSchema,
  RejectionSeverity,
  RejectionSurface,
  type RejectedWriteSchema,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { systemClock } from "#shared/values/clock.ts";
import { decodeId, encodeId, lowestUuidAt, newId, newUuid } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { createDatabase } from "../support/database.ts";
import { startSingleProcess, testCall, type SingleProcess } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
const minuteMicros = 60_000_000;
let ahead = 0;
const clock = { nowMicros: () => systemClock.nowMicros() + ahead };
let daybook: SingleProcess;
let database: Database;

beforeAll(async () => {
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  daybook = await startSingleProcess(owner, { clock, databaseUrl });
  const log = createLog("test", "silent");
  database = openDatabase({ url: databaseUrl, applicationName: "test", connectionsMax: 2, log });
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

type Write = Exclude<MessageInitShape<typeof RejectedWriteSchema>, { $typeName: string }>;

// The begin of a minute, so that all of a test are in one.
const minute = () => Math.floor(clock.nowMicros() / minuteMicros) * minuteMicros;

/** The id of an entry has its time. */
const idAt = (micros: number): string =>
  encodeId("rej", `${lowestUuidAt(Math.floor(micros / 1000)).slice(0, 13)}${newUuid().slice(13)}` as never);

function writeOf(propertyId: string, fields: Partial<Write> = {}) {
  const at = clock.nowMicros();
  return {
    id: idAt(at),
    propertyId,
    rejectedAt: toTimestamp(at),
    operation: "events.create",
    surface: RejectionSurface.NATIVE,
    status: 400,
    error: { code: "parameter_missing", message: "`type` is required.", param: "type" },
    requestId: newId("req"),
    keyId: "key_1",
    keyName: "shop",
    payload: '{"a":1}',
    ...fields,
  };
}

const newProperty = async () => (await daybook.newProperty()).propertyId;
const record = (writes: Write[]) => daybook.clients.rejectedWrites.recordRejectedWrites({ writes }, testCall);
const summarize = (propertyId: string, filter = {}) =>
  daybook.clients.rejectedWrites.summarizeRejectedWrites({ propertyId, filter, limit: 100 }, testCall);
const list = (propertyId: string, filter = {}, limit = 500, afterRejectedWriteId?: string) =>
  daybook.clients.rejectedWrites.listRejectedWrites({ propertyId, filter, limit, afterRejectedWriteId }, testCall);
const get = async (propertyId: string, rejectedWriteId = "") =>
  (await daybook.clients.rejectedWrites.getRejectedWrite({ propertyId, rejectedWriteId }, testCall)).write;

test("counts each write once, and keeps 20 of a group and minute, when the same come again at once", async () => {
  const propertyId = await newProperty();
  const at = minute();
  const writes = Array.from({ length: 60 }, () => writeOf(propertyId, { rejectedAt: toTimestamp(at) }));
  const counts = [
    {
      id: newUuid(),
      propertyId,
      group: {
        operation: "events.create",
        code: "parameter_missing",
        param: "type",
        keyId: "key_1",
        keyName: "shop",
        count: 1_000n,
        firstAt: toTimestamp(at),
        lastAt: toTimestamp(at),
      },
    },
  ];
  const tell = (part: Write[]) =>
    daybook.clients.rejectedWrites.recordRejectedWrites({ writes: part, counts }, testCall);
  await Promise.all([writes, writes.slice(0, 30), writes.slice(20), writes].map(tell));
  const { count, groups } = await summarize(propertyId);
  expect(count).toBe(1_060n);
  expect(groups).toMatchObject([
    {
      operation: "events.create",
      code: "parameter_missing",
      param: "type",
      count: 1_060n,
      severity: RejectionSeverity.ERROR,
    },
  ]);
  const { writes: kept } = await list(propertyId);
  expect(kept).toHaveLength(20);
  expect(groups[0]?.sampleIds).toEqual(kept.slice(0, 3).map(({ id }) => id));
  expect(await get(propertyId, kept[0]?.id)).toMatchObject({ payload: '{"a":1}', payloadState: PayloadState.KEPT });
  expect((await summarize(await newProperty())).count).toBe(0n);
  await expect(get(await newProperty(), kept[0]?.id)).rejects.toThrow("There is no such rejected write.");
});

test("finds writes by every filter, in pages, and groups indexes and names that are not plain", async () => {
  const propertyId = await newProperty();
  const first = writeOf(propertyId);
  const other = writeOf(propertyId, {
    operation: "profiles.update",
    keyId: "key_2",
    clientReference: "row 7",
    eventType: "order.placed",
    status: 409,
    itemIndex: 3,
    error: { code: "identity_conflict", message: "Taken.", param: "identifiers.12.value" },
  });
  const odd = writeOf(propertyId, { error: { code: "parameter_unknown", message: "?", param: "a.ada@example.com" } });
  await record([first, other, odd]);
  const idsOf = async (filter: object) => (await list(propertyId, filter)).writes.map(({ id }) => id);
  for (const filter of [
    { operation: "profiles.update" },
    { code: "identity_conflict" },
    { param: "identifiers.12.value" },
    { param: "identifiers.*.value" },
    { eventType: "order.placed" },
    { keyId: "key_2" },
    { requestId: other.requestId },
    { clientReference: "row 7" },
    { severity: RejectionSeverity.WARNING },
    { severity: RejectionSeverity.WARNING, code: "identity_conflict", param: "identifiers.*.value", keyId: "key_2" },
  ]) {
    expect(await idsOf(filter), JSON.stringify(filter)).toEqual([other.id]);
  }
  expect(await idsOf({ rejectedAt: { lt: toTimestamp(clock.nowMicros() - 3600e6) } })).toEqual([]);
  expect(await idsOf({ rejectedAt: { gte: first.rejectedAt } })).toHaveLength(3);
  const page = await list(propertyId, {}, 2);
  const rest = await list(propertyId, {}, 2, page.writes.at(-1)?.id);
  expect([page.hasMore, rest.hasMore]).toEqual([true, false]);
  const all = [...page.writes, ...rest.writes].map(({ id }) => id);
  expect(all).toEqual([first.id, other.id, odd.id].toSorted().toReversed());
  const { groups } = await summarize(propertyId);
  expect(new Set(groups.map(({ param }) => param))).toEqual(new Set(["*", "identifiers.*.value", "type"]));
});

test("keeps no body for a property that turned them off, and deletes those that it has", async () => {
  const propertyId = await newProperty();
  const [before, after] = [writeOf(propertyId), writeOf(propertyId)];
  await record([before]);
  const { rejectedWrites } = daybook.clients;
  expect((await rejectedWrites.getRejectedWriteSettings({ propertyId }, testCall)).keepsPayloads).toBe(true);
  await rejectedWrites.updateRejectedWriteSettings({ propertyId, keepsPayloads: false }, testCall);
  await record([after]);
  for (const { id } of [before, after]) {
    const write = await get(propertyId, id);
    expect(write).toMatchObject({ payloadState: PayloadState.NOT_KEPT });
    expect(write?.payload).toBeUndefined();
  }
  expect((await rejectedWrites.getRejectedWriteSettings({ propertyId }, testCall)).keepsPayloads).toBe(false);
});

test("keeps 10,000 writes of a day and counts all, whatever names the fields have", { timeout: 120_000 }, async () => {
  const propertyId = await newProperty();
  const at = toTimestamp(minute());
  const { rejectedWrites } = daybook.clients;
  await Promise.all(
    Array.from({ length: 11 }, (_, part) =>
      rejectedWrites.recordRejectedWrites(
        {
          writes: Array.from({ length: 1_000 }, (_unused, index) =>
            writeOf(propertyId, {
              rejectedAt: at,
              error: { code: "parameter_unknown", message: "?", param: `field_${part}_${index}a`.replaceAll("0", "o") },
            }),
          ),
        },
        testCall,
      ),
    ),
  );
  expect((await summarize(propertyId)).count).toBe(11_000n);
  const { rows } = await database.query<{ kept: number; groups: number }>(
    `SELECT (SELECT count(*) FROM event.rejected_writes WHERE property_id = $1) AS kept`,
    [decodeId("prop", propertyId, "property_id")],
  );
  expect(rows[0]?.kept).toBe(10_000);
});

test("reports a key once in 10 minutes with exact counts, and only what no report has told", async () => {
  const propertyId = await newProperty();
  const property = decodeId("prop", propertyId, "property_id");
  const reports: bigint[] = [];
  const told = async () => {
    const { rows } = await database.query<{ payload: Buffer }>(
      "SELECT payload FROM event.outbox WHERE property_id = $1 AND subject = 'daybook.event.rejected_writes_reported'",
      [property],
    );
    const messages = rows.map(({ payload }) => fromBinary(RejectedWritesReportedSchema, payload));
    return messages.map(({ count }) => count);
  };
  // The outbox keeps a message until a consumer has it, so the test is the first to see it.
  await database.query("ALTER TABLE event.outbox ALTER COLUMN available_at SET DEFAULT now() + interval '1 hour'");
  try {
    await record([writeOf(propertyId), writeOf(propertyId)]);
    ahead += 11_000_000;
    reports.push(...(await eventually(async () => ((await told()).length > 0 ? told() : undefined))));
    expect(reports).toEqual([2n]);
    await record([writeOf(propertyId)]);
    ahead += 9 * minuteMicros;
    await record([writeOf(propertyId), writeOf(propertyId)]);
    expect(await told()).toEqual([2n]);
    ahead += minuteMicros;
    await eventually(async () => (await told()).length === 2 || undefined);
    expect(new Set(await told())).toEqual(new Set([2n, 3n]));
    ahead += 60 * minuteMicros;
    await record([writeOf(await newProperty())]);
    expect((await told()).length).toBe(2);
  } finally {
    await database.query("ALTER TABLE event.outbox ALTER COLUMN available_at SET DEFAULT now()");
  }
});
