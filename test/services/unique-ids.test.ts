/**
 * Events that name themselves: a unique_id is kept once for its profile and type, for good, whoever else sends it at
 * the same time.
 */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EventInputSchema, type RecordedEvent } from "#proto/daybook/event/v1/event_pb.ts";
import { newId } from "#shared/values/ids.ts";
import { describeEverywhere, testCall } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

describeEverywhere("unique ids of events", (daybook) => {
  const email = (value: string) => ({
    reference: { case: "identifier" as const, value: { type: "email", value } },
  });
  const make = (uniqueId: string, fields: object = {}) =>
    create(EventInputSchema, {
      type: "order.placed",
      propertiesJson: "{}",
      source: "test",
      profile: email("a@example.com"),
      uniqueId,
      ...fields,
    });
  const record = async (propertyId: string, events: ReturnType<typeof make>[]): Promise<RecordedEvent[]> => {
    const { results } = await daybook().clients.events.recordEvents(
      { propertyId, events, returnEvents: true },
      testCall,
    );
    return results.map(({ outcome }) => {
      if (outcome.case !== "recorded") throw new Error(JSON.stringify(outcome.value));
      return outcome.value;
    });
  };
  const countOf = async (propertyId: string): Promise<number> => {
    const list = await daybook().clients.events.listEvents({ propertyId, type: "order.placed", limit: 1000 }, testCall);
    return list.events.length;
  };

  test("one raced by many clients, also within their batches, is recorded once", async () => {
    const { propertyId } = await daybook().newProperty();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, client) =>
        record(
          propertyId,
          Array.from({ length: 30 }, (__, index) =>
            make(`order ${(index * 7 + client) % 10}`, { propertiesJson: JSON.stringify({ client, index }) }),
          ),
        ),
      ),
    );
    const all = answers.flat();
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(10);
    expect(new Set(all.map(({ eventId }) => eventId)).size).toBe(10);
    expect(await countOf(propertyId)).toBe(10);
  });

  test("a repeat answers with the first; another profile, type or id is another event", async () => {
    const { propertyId } = await daybook().newProperty();
    const [first] = await record(propertyId, [make("1", { propertiesJson: '{"n":1}' })]);
    const [again] = await record(propertyId, [make("1", { propertiesJson: '{"n":2}' })]);
    expect(again).toMatchObject({ replayed: true, eventId: first?.eventId, event: { propertiesJson: '{"n":1}' } });
    const others = [make("2"), make("1", { type: "order.paid" }), make("1", { profile: email("b@example.com") })];
    expect((await record(propertyId, others)).map(({ replayed }) => replayed)).toEqual([false, false, false]);
    const cards = ["x", "x", "y"].map((value) =>
      make("1", { profile: { reference: { case: "identifier", value: { type: "card", value } } } }),
    );
    expect((await record(propertyId, cards)).map(({ replayed }) => replayed)).toEqual([false, true, false]);
  });

  test("holds for the survivor of a merge what was recorded for the source", async () => {
    const api = await daybook().newProperty();
    const [survivor, source] = [await newProfile(api), await newProfile(api)];
    const of = (id: string) => ({ profile: { reference: { case: "profileId", value: id } } });
    const [first] = await record(api.propertyId, [make("1", of(source.id))]);
    const { status } = await api.post(`${survivor.path}/merge`, { source_profile_id: source.id });
    expect(status).toBe(200);
    for (const id of [survivor.id, source.id, survivor.id]) {
      const [again] = await record(api.propertyId, [make("1", of(id))]);
      expect(again).toMatchObject({ replayed: true, eventId: first?.eventId });
    }
  });

  test("an operation that is asked for again and again is done once", async () => {
    const { propertyId } = await daybook().newProperty();
    const operationId = newId("op");
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => record(propertyId, [make("", { operationId, uniqueId: undefined })])),
    );
    expect(new Set(answers.flat().map(({ eventId }) => eventId)).size).toBe(1);
    // The same answer each time: nothing is a repeat of another.
    expect(answers.flat().filter(({ replayed }) => replayed)).toEqual([]);
  });

  test.each([
    ["unique_id", { uniqueId: "" }],
    ["unique_id", { uniqueId: "x".repeat(256) }],
    ["metric_name", { uniqueId: undefined, metricName: "a\0b" }],
    ["operation_id", { uniqueId: undefined, operationId: "op_1" }],
  ])("a bad %s fails alone", async (param, fields) => {
    const { propertyId } = await daybook().newProperty();
    const events = [make("", fields), make("1")];
    const { results } = await daybook().clients.events.recordEvents({ propertyId, events }, testCall);
    expect(results.map(({ outcome }) => outcome)).toMatchObject([
      { case: "error", value: { param } },
      { case: "recorded" },
    ]);
  });

  test("the last event of profiles is that of all that were merged into them", async () => {
    const api = await daybook().newProperty();
    const people = [await newProfile(api), await newProfile(api), await newProfile(api), await newProfile(api)];
    const [survivor, source, other, none] = people.map(({ id }) => id);
    const at = (id: string | undefined, day: string) => ({
      uniqueId: undefined,
      profile: { reference: { case: "profileId", value: id } },
      occurredAt: `2026-01-${day}T00:00:00Z`,
    });
    await record(api.propertyId, [make("", at(survivor, "02")), make("", at(source, "05")), make("", at(other, "03"))]);
    await api.post(`/v1/profiles/${survivor}/merge`, { source_profile_id: source });
    const { events } = daybook().clients;
    const profileIds = [survivor, source, other, none, newId("prof")].map((id) => id ?? "");
    // What the platform records of profiles itself comes a moment later, and does not count.
    await eventually(async () => {
      const list = await events.listEvents({ propertyId: api.propertyId, profileId: none ?? "", limit: 1 }, testCall);
      return list.events.length === 1 ? true : undefined;
    });
    const { lastEvents } = await events.getLastEvents({ propertyId: api.propertyId, profileIds }, testCall);
    const times = new Map(lastEvents.map(({ profileId, occurredAt }) => [profileId, Number(occurredAt?.seconds)]));
    const day = (text: string): number => Date.parse(`2026-01-${text}T00:00:00Z`) / 1000;
    expect([survivor, source, other, none].map((id) => times.get(id ?? ""))).toEqual([
      day("05"),
      day("05"),
      day("03"),
      undefined,
    ]);
    const asked = { propertyId: api.propertyId, profileId: survivor ?? "", limit: 10, withoutSystem: true };
    expect((await events.listEvents(asked, testCall)).events).toHaveLength(2);
  });
});
