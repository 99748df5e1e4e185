/** Idempotency-Keys that the event service claims as it stores an event, where it has them in its own database. */
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import pg from "pg";
import { expect, test } from "vitest";
import type { EventInputSchema, RecordEventResult } from "#proto/daybook/event/v1/event_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { describeOnce, describeOnMesh, testCall, type TestDaybook } from "../support/daybook.ts";
import { newEmail } from "../support/people.ts";

type Input = MessageInitShape<typeof EventInputSchema>;

const claimOf = (key: string, request = key) => ({
  key,
  fingerprint: createHash("sha256").update(request).digest(),
  revision: "2026-11-01",
});
const eventOf = (more: Pick<Input, "claim" | "dedupeId" | "recorded" | "type">): Input => ({
  type: "a.b",
  profile: { reference: { case: "identifier", value: newEmail() } },
  propertiesJson: "{}",
  source: "test",
  ...more,
});

async function record(daybook: TestDaybook, propertyId: string, events: Input[]): Promise<string[]> {
  const request = { propertyId, events, returnEvents: true };
  const { results } = await daybook.clients.events.recordEvents(request, testCall);
  return results.map(nameOf);
}

/** The code and the field of a refusal, or that the event was recorded. */
function nameOf({ outcome }: RecordEventResult): string {
  return outcome.case === "error" ? `${outcome.value.code} ${outcome.value.param}` : "recorded";
}

describeOnce("claims of requests", (daybook) => {
  /** @returns how many rows a statement of a property found or changed. */
  async function countRows(propertyId: string, text: string): Promise<number | null> {
    const client = new pg.Client({ connectionString: daybook().databaseUrl });
    await client.connect();
    try {
      return (await client.query(text, [decodeId("prop", propertyId, "")])).rowCount;
    } finally {
      await client.end();
    }
  }

  test("store the first event of a key, and nothing for the others: no event, profile, type or other key", async () => {
    const { propertyId } = await daybook().newProperty();
    const { clients } = daybook();
    const events = [
      eventOf({ claim: claimOf("one") }),
      eventOf({ claim: claimOf("one"), dedupeId: "free" }),
      eventOf({ claim: claimOf("two") }),
      eventOf({}),
    ];
    const held = "idempotency_key_in_use claim";
    expect(await record(daybook(), propertyId, events)).toEqual(["recorded", held, "recorded", "recorded"]);
    const again = [
      eventOf({ claim: claimOf("two"), dedupeId: "free" }),
      eventOf({ dedupeId: "free" }),
      eventOf({ claim: claimOf("two"), type: "never.seen" }),
    ];
    expect(await record(daybook(), propertyId, again)).toEqual([held, "recorded", held]);
    const alone = [eventOf({ claim: claimOf("two"), type: "never.seen" })];
    expect(await record(daybook(), propertyId, alone)).toEqual([held]);
    expect(await countRows(propertyId, "SELECT FROM event.types WHERE property_id = $1")).toBe(1);
    const { profiles } = await clients.profiles.listProfiles({ propertyId, limit: 100 }, testCall);
    expect(profiles).toHaveLength(4);
    const stranger = await daybook().newProperty();
    expect(await record(daybook(), stranger.propertyId, [eventOf({ claim: claimOf("one") })])).toEqual(["recorded"]);
  });

  test("race, and each key stores one event", async () => {
    const { propertyId } = await daybook().newProperty();
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
    const calls = Array.from({ length: 8 }, (_, call) => {
      const events = keys.map((key) => eventOf({ claim: claimOf(key, `${key} ${call}`), dedupeId: `${key} ${call}` }));
      return record(daybook(), propertyId, call % 2 === 0 ? events : events.toReversed());
    });
    const outcomes = (await Promise.all(calls)).flat();
    expect(outcomes.filter((outcome) => outcome === "recorded")).toHaveLength(keys.length);
    const { events } = await daybook().clients.events.listEvents({ propertyId, type: "a.b", limit: 500 }, testCall);
    expect(events).toHaveLength(keys.length);
    // The keys of those that lost are free.
    const lost = await record(
      daybook(),
      propertyId,
      Array.from({ length: 8 }, (_, call) => eventOf({ dedupeId: `k0 ${call}` })),
    );
    expect(lost.filter((outcome) => outcome === "recorded")).toHaveLength(8);
  });

  test("of keys that have expired, and are still there, are made again", async () => {
    const { propertyId } = await daybook().newProperty();
    const eventNamed = (request: string) => eventOf({ claim: claimOf("one", request), dedupeId: "once" });
    expect(await record(daybook(), propertyId, [eventNamed("first")])).toEqual(["recorded"]);
    for (const table of ["identity.operations", "event.dedupe_keys"]) {
      const expire = `UPDATE ${table} SET expires_at = now() - interval '1 second' WHERE property_id = $1`;
      expect(await countRows(propertyId, expire)).toBe(1);
    }
    expect(await record(daybook(), propertyId, [eventNamed("second")])).toEqual(["recorded"]);
    const held = "idempotency_key_in_use claim";
    expect(await record(daybook(), propertyId, [eventOf({ claim: claimOf("one", "first") })])).toEqual([held]);
    const { events } = await daybook().clients.events.listEvents({ propertyId, type: "a.b", limit: 10 }, testCall);
    expect(events).toHaveLength(2);
  });

  test("are checked", async () => {
    const { propertyId } = await daybook().newProperty();
    const { key, fingerprint, revision } = claimOf("checked");
    const refused = await record(daybook(), propertyId, [
      eventOf({ claim: { key: "", fingerprint, revision } }),
      eventOf({ claim: { key: "a b", fingerprint, revision } }),
      eventOf({ claim: { key: "x".repeat(256), fingerprint, revision } }),
      eventOf({ claim: { key, fingerprint: fingerprint.subarray(1), revision } }),
      eventOf({ claim: { key, fingerprint, revision: "2".repeat(21) } }),
      eventOf({ recorded: "" }),
      eventOf({ recorded: "[]" }),
      eventOf({ recorded: '{"id":"evt"}' }),
      eventOf({ recorded: "[".repeat(1_000_000) }),
    ]);
    const params = ["key", "key", "key", "fingerprint", "claim", "recorded", "recorded", "recorded", "recorded"];
    expect(refused).toEqual(params.map((param) => `parameter_invalid ${param}`));
  });
});

describeOnMesh("claims of requests", (daybook) => {
  test("are refused by a service that does not have the keys", async () => {
    const { propertyId } = await daybook().newProperty();
    const events = [eventOf({ claim: claimOf("one") }), eventOf({})];
    expect(await record(daybook(), propertyId, events)).toEqual(["parameter_invalid claim", "recorded"]);
  });
});
