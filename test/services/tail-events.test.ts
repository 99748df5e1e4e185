/**
 * The tail of the events: whoever reads on from the position of each answer is shown every event once, or told that it
 * was skipped, while several processes record.
 */
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  EventInputSchema,
  type Event,
  type EventInput,
  type TailEventsRequest,
  type TailEventsResponse,
} from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileReferenceSchema } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { decodeId, newId } from "#shared/values/ids.ts";
import { execute } from "../support/database.ts";
import { startSingleProcess, testCall, type SingleProcess } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
let processes: [SingleProcess, SingleProcess];

beforeAll(async () => {
  const first = await startSingleProcess(owner);
  // Its clock is behind by nearly as much as clocks may differ.
  const clock = { nowMicros: () => Date.now() * 1000 - 200_000 };
  processes = [first, await startSingleProcess(owner, { databaseUrl: first.databaseUrl, clock })];
}, 60_000);
afterAll(() => owner.close());

type Filter = Partial<Pick<TailEventsRequest, "type" | "profileId" | "source" | "withoutSystem">>;

const types = ["order.placed", "page.viewed"];
const sources = ["api", "sdk", "system"];

function eventsOf(writer: number, batch: number, count: number, profileId: string): EventInput[] {
  return Array.from({ length: count }, (_, index) =>
    create(EventInputSchema, {
      type: types[(writer + index) % 2] ?? "",
      propertiesJson: JSON.stringify({ writer, batch, index }),
      source: sources[(batch + index) % 3] ?? "",
      profile: {
        reference:
          index % 5 === 0
            ? { case: "profileId", value: profileId }
            : { case: "identifier", value: { type: "card", value: String(index) } },
      },
    }),
  );
}

interface Tail {
  filter: Filter;
  start: bigint;
  shown: string[];
  skipped: number;
  /** @returns up to when everything was read; undefined while more lies before the watermark. */
  poll: () => Promise<bigint | undefined>;
}

async function startTail(process: SingleProcess, propertyId: string, filter: Filter, limit: number): Promise<Tail> {
  const { events } = process.clients;
  const begin = await events.tailEvents({ propertyId, limit, ...filter }, testCall);
  expect([begin.events, begin.skipped, begin.hasMore]).toEqual([[], 0n, false]);
  let { position } = begin;
  const tail: Tail = {
    filter,
    start: nanosOf(position?.time),
    shown: [],
    skipped: 0,
    async poll() {
      const answer = await events.tailEvents({ propertyId, after: position, limit, ...filter }, testCall);
      expect(answer.events.length).toBeLessThanOrEqual(limit);
      expect(answer.events.map(orderOf)).toEqual(answer.events.map(orderOf).toSorted().toReversed());
      tail.shown.push(...answer.events.map(({ id }) => id));
      tail.skipped += Number(answer.skipped);
      ({ position } = answer);
      return answer.hasMore ? undefined : nanosOf(answer.recordedUpTo);
    },
  };
  return tail;
}

const nanosOf = (at?: Timestamp): bigint => (at ? at.seconds * 1_000_000_000n + BigInt(at.nanos) : 0n);
const orderOf = ({ receivedAt, id }: Event): string => `${nanosOf(receivedAt)} ${id}`;

function isWanted(event: Event, { type, source, withoutSystem, profileId }: Filter): boolean {
  return (
    (type === undefined || event.type === type.replace("_", ".")) &&
    (source === undefined || event.source === source) &&
    !(withoutSystem && event.source === "system") &&
    (profileId === undefined || event.profileId === profileId)
  );
}

async function record(process: SingleProcess, propertyId: string, events: EventInput[]): Promise<Event[]> {
  const { results } = await process.clients.events.recordEvents({ propertyId, events, returnEvents: true }, testCall);
  return results.map(({ outcome }) => {
    if (outcome.case !== "recorded" || !outcome.value.event) throw new Error(JSON.stringify(outcome.value));
    return outcome.value.event;
  });
}

test("shows or counts every event once, for every filter, while two processes record", async () => {
  const [first, second] = processes;
  const api = await first.newProperty();
  const { propertyId } = api;
  const { id: profileId } = await newProfile(api);
  const recorded: Event[] = await eventually(async () => {
    const { events } = await first.clients.events.listEvents({ propertyId, limit: 10 }, testCall);
    return events.length > 0 ? events : undefined;
  });
  const filters: Filter[] = [
    {},
    { type: "order_placed" },
    { source: "sdk" },
    { withoutSystem: true },
    { profileId },
    { type: "page.viewed", source: "api", profileId },
  ];
  const tails = await Promise.all(
    filters.flatMap((filter) => [startTail(first, propertyId, filter, 200), startTail(second, propertyId, filter, 3)]),
  );
  const done = new AbortController();
  const tailing = tails.map(async ({ poll }) => {
    while (!done.signal.aborted) await poll();
  });
  const writing = [0, 1, 2, 3].map(async (writer) => {
    for (let batch = 0; batch < 25; batch++) {
      const events = eventsOf(writer, batch, 1 + ((batch * 7) % 30), profileId);
      recorded.push(...(await record(writer % 2 === 0 ? first : second, propertyId, events)));
    }
  });
  await Promise.all(writing).finally(() => done.abort());
  await Promise.all(tailing);
  const last = recorded.reduce((latest, { receivedAt }) => {
    const at = nanosOf(receivedAt);
    return at > latest ? at : latest;
  }, 0n);
  for (const tail of tails) {
    const { filter, start, shown, poll } = tail;
    await eventually(async () => (((await poll()) ?? 0n) >= last ? true : undefined));
    const wanted = recorded.filter((event) => nanosOf(event.receivedAt) > start && isWanted(event, filter));
    const known = new Set(wanted.map(({ id }) => id));
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.filter((id) => !known.has(id))).toEqual([]);
    expect([filter, tail.skipped + shown.length]).toEqual([filter, wanted.length]);
  }
}, 120_000);

test("goes on from where it ends when more lies before it than a call reads, and shows no more than fits", async () => {
  const [first] = processes;
  const { propertyId } = await first.newProperty();
  const { events: service } = first.clients;
  const { position } = await service.tailEvents({ propertyId, limit: 0 }, testCall);
  // 30 of them are more than an answer has.
  const propertiesJson = JSON.stringify({ text: "x".repeat(255 * 1024) });
  const profile: EventInput["profile"] = create(ProfileReferenceSchema, {
    reference: { case: "identifier", value: { type: "card", value: "1" } },
  });
  const recorded: Event[] = [];
  for (const writer of [1, 2, 3]) {
    const events = eventsOf(writer, 0, 10, "").map((event) => ({ ...event, propertiesJson, profile }));
    recorded.push(...(await record(first, propertyId, events)));
  }
  const upTo = async (time: bigint): Promise<TailEventsResponse> =>
    eventually(async () => {
      const answer = await service.tailEvents({ propertyId, after: position, limit: 200 }, testCall);
      return nanosOf(answer.recordedUpTo) > time ? answer : undefined;
    });
  const newest = recorded.map(orderOf).toSorted().toReversed();
  const last = nanosOf(recorded.at(-1)?.receivedAt);
  const { events, skipped } = await upTo(last);
  expect(events.map(orderOf)).toEqual(newest.slice(0, 16));
  expect(skipped).toBe(14n);
  // More rows than a call reads, as another process would have recorded them.
  await execute(
    first.databaseUrl,
    `INSERT INTO event.events (property_id, id, type, properties, occurred_at, received_at, source, backfill)
     SELECT property_id, (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'a.b', '{}', occurred_at,
            received_at + n * interval '1 microsecond', 'api', false
     FROM (
       SELECT * FROM event.events WHERE property_id = '${decodeId("prop", propertyId, "")}'
       ORDER BY received_at DESC, id DESC LIMIT 1
     ) AS last CROSS JOIN generate_series(1, 150000) AS n`,
  );
  await upTo(last + 1_000_000_000n);
  const answers: TailEventsResponse[] = [];
  for (let after = position; answers.at(-1)?.hasMore ?? true; after = answers.at(-1)?.position) {
    answers.push(await service.tailEvents({ propertyId, after, type: "a.b", limit: 1 }, testCall));
  }
  expect(answers.map(({ hasMore }) => hasMore)).toEqual([true, false]);
  expect(answers.map(({ events: shown }) => shown.length)).toEqual([1, 1]);
  expect(answers.reduce((sum, answer) => sum + answer.skipped, 0n)).toBe(150_000n - 2n);
}, 120_000);

test.each([
  ["limit", { limit: 201 }],
  ["limit", { limit: -1 }],
  ["property_id", { propertyId: "prop_1" }],
  ["profile_id", { profileId: "prof_1" }],
  ["after.time", { after: { eventId: newId("evt") } }],
  ["after.time", { after: { time: { seconds: 10n ** 15n, nanos: 0 }, eventId: newId("evt") } }],
  ["after.event_id", { after: { time: { seconds: 1n, nanos: 0 }, eventId: "evt_1" } }],
])("refuses a bad %s", async (param, fields) => {
  const [first] = processes;
  const { propertyId } = await first.newProperty();
  const call = first.clients.events.tailEvents({ propertyId, limit: 1, ...fields }, testCall);
  await expect(call).rejects.toMatchObject({ param });
});
