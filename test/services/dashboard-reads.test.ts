/** What the dashboard reads beside what the API does: jobs, merges, people by what is typed, windows. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { expect, inject, test } from "vitest";
import { EventInputSchema, EventJobStatus, type EventJobItemSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService, RateWindow } from "#proto/daybook/identity/v1/identity_pb.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { newId } from "#shared/values/ids.ts";
import { describeOnce, testCall, type TestProperty } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

type Input = MessageInitShape<typeof EventInputSchema>;

describeOnce("reads of the dashboard", (daybook) => {
  const clients = () => daybook().clients;
  const record = async (propertyId: string, profileId: string, count: number, source = "api"): Promise<void> => {
    const event = create(EventInputSchema, {
      type: "page.viewed",
      propertiesJson: "{}",
      source,
      profile: { reference: { case: "profileId", value: profileId } },
    });
    const events = Array.from({ length: count }, () => event);
    const { results } = await clients().events.recordEvents({ propertyId, events }, testCall);
    expect(results.filter(({ outcome }) => outcome.case !== "recorded")).toEqual([]);
  };

  test("jobs of events are listed with their progress and refused items, of one property only", async () => {
    const { propertyId } = await daybook().newProperty();
    const { events } = clients();
    const item = (fields: Input): MessageInitShape<typeof EventJobItemSchema> => ({
      event: { type: "a.b", propertiesJson: "{}", source: "test", ...fields } as Input,
      profile: { identifiers: [{ type: "external_id", value: "1" }], source: "test" },
    });
    const jobIds = [newId("job"), newId("job"), newId("job")];
    const long = `Bad ${"x".repeat(300)}`;
    await events.createEventJob(
      { propertyId, jobId: jobIds[0] ?? "", items: [item({}), item({ type: long }), item({ value: "1" })] },
      testCall,
    );
    for (const jobId of jobIds.slice(1))
      await events.createEventJob({ propertyId, jobId, items: [item({})] }, testCall);
    const { jobs } = await eventually(async () => {
      const found = await events.listEventJobs({ propertyId, limit: 10 }, testCall);
      return found.jobs.every(({ status }) => status === EventJobStatus.COMPLETE) ? found : undefined;
    });
    expect(jobs.map(({ id }) => id)).toEqual(jobIds.toReversed());
    expect(jobs.at(-1)).toMatchObject({ totalCount: 3, completedCount: 1, failedCount: 2 });
    expect(await events.getEventJob({ propertyId, jobId: jobIds[0] ?? "" }, testCall)).toMatchObject({
      job: jobs.at(-1),
    });
    const page = await events.listEventJobs(
      { propertyId, limit: 1, ascending: true, afterJobId: jobIds[0] ?? "" },
      testCall,
    );
    expect([page.jobs.map(({ id }) => id), page.hasMore]).toEqual([[jobIds[1]], true]);
    const queued = { propertyId, limit: 10, statuses: [EventJobStatus.QUEUED, EventJobStatus.PROCESSING] };
    expect((await events.listEventJobs(queued, testCall)).jobs).toEqual([]);
    const refused = await events.listEventJobErrors({ propertyId, jobId: jobIds[0] ?? "", limit: 1 }, testCall);
    expect(refused).toMatchObject({
      hasMore: true,
      errors: [{ item: 1, type: long.slice(0, 255), error: { param: "type" } }],
    });
    const next = { propertyId, jobId: jobIds[0] ?? "", limit: 5, afterItem: 1 };
    expect(await events.listEventJobErrors(next, testCall)).toMatchObject({
      hasMore: false,
      errors: [{ item: 2, type: "a.b" }],
    });
    const { propertyId: other } = await daybook().newProperty();
    expect((await events.listEventJobs({ propertyId: other, limit: 10 }, testCall)).jobs).toEqual([]);
    const foreign = { propertyId: other, jobId: jobIds[0] ?? "", limit: 1 };
    for (const read of ["getEventJob", "listEventJobErrors"] as const) {
      await expect(events[read](foreign, testCall)).rejects.toMatchObject({ code: "resource_not_found" });
    }
    await expect(events.listEventJobs({ propertyId, limit: 501 }, testCall)).rejects.toMatchObject({ param: "limit" });
  });

  const email = (value: string, isPrimary = false): object => ({ type: "email", value, is_primary: isPrimary });

  test("a merge does what its preview says, its record says it too, and its events are counted before", async () => {
    const api = await daybook().newProperty();
    const { propertyId } = api;
    const { profiles, events } = clients();
    const survivor = await newProfile(api, {
      identifiers: [email("a@example.com", true), { type: "card", value: "1" }],
      attributes: { plan: "gold", same: { a: 1, b: 2 }, own: 1 },
      location: { city: "Porto" },
    });
    const source = await newProfile(api, {
      identifiers: [email("b@example.com", true), { type: "phone", value: "+351910000123", is_primary: true }],
      attributes: { plan: "free", same: { b: 2, a: 1 }, theirs: 2 },
      location: { city: "Lisbon", country: "PT" },
    });
    await profiles.updateTags({ propertyId, profileId: survivor.id, add: ["x", "y"] }, testCall);
    await profiles.updateTags({ propertyId, profileId: source.id, add: ["y", "z"] }, testCall);
    const earlier = await newProfile(api);
    await api.post(`${source.path}/merge`, { source_profile_id: earlier.id });
    await record(propertyId, source.id, 3);
    await record(propertyId, earlier.id, 2);
    const request = { propertyId, profileId: survivor.id, sourceProfileId: source.id };
    const preview = await profiles.previewMerge(request, testCall);
    expect(preview).toMatchObject({
      moved: { attributes: ["theirs"], tags: ["z"], location: ["country"] },
      conflictingAttributes: ["plan"],
      conflictingLocation: ["city"],
      mergedIntoSource: 1,
    });
    expect(preview.moved?.identifierIds).toHaveLength(3);
    expect(preview.demotedIdentifierIds).toEqual(source.identifier_ids.slice(0, 1));
    // Nothing was done.
    const { profiles: still } = await profiles.getProfiles({ propertyId, profileIds: [survivor.id] }, testCall);
    expect(still[0]?.version).toBe(preview.survivorVersion);
    const before = await eventually(async () => {
      const count = await events.countProfileEvents({ propertyId, profileId: source.id }, testCall);
      // With what the platform records of the two profiles and their merge.
      return count.count === 8n ? count : undefined;
    });
    expect(before.hasMore).toBe(false);
    const { profile: merged } = await profiles.mergeProfiles(request, testCall);
    const { profile: expected } = preview;
    const shown = (profile: typeof merged) => ({
      ...profile,
      version: 0n,
      updatedAt: undefined,
      identifiers: profile?.identifiers.map((identifier) => ({ ...identifier, profileId: "", updatedAt: undefined })),
    });
    expect(shown(merged)).toEqual(shown(expected));
    const of = async (profileId: string) =>
      (await profiles.listMerges({ propertyId, limit: 10, profileId }, testCall)).merges;
    const [first, second, ...others] = await of(survivor.id);
    expect(others).toEqual([]);
    expect([first, second]).toMatchObject([
      { sourceId: earlier.id, survivorId: source.id },
      { sourceId: source.id, survivorId: survivor.id, mergedBy: "test", moved: preview.moved },
    ]);
    expect(await of(source.id)).toEqual([first, second]);
    expect(await of(earlier.id)).toEqual([first]);
    expect(await of(newId("prof"))).toEqual([]);
    // The merge can neither be done nor shown again.
    for (const merge of ["previewMerge", "mergeProfiles"] as const) {
      await expect(profiles[merge](request, testCall)).rejects.toMatchObject({
        code: "invalid_state_transition",
        param: "source_profile_id",
      });
    }
  });

  test("profiles are found by every text that names them, as it is typed", async () => {
    const api = await daybook().newProperty();
    const { propertyId } = api;
    const { profiles } = clients();
    const ada = await newProfile(api, {
      identifiers: [
        email("Ada@Example.com"),
        { type: "phone", value: "+351910000123" },
        { type: "external_id", value: "42" },
      ],
    });
    const bob = await newProfile(api, {
      identifiers: [email("bob@example.com"), { type: "anonymous_id", value: "42" }],
    });
    const gone = await newProfile(api);
    await api.post(`${ada.path}/merge`, { source_profile_id: gone.id });
    const find = async (text: string, property = propertyId) => {
      const answer = await profiles.findProfiles({ propertyId: property, text }, testCall);
      expect(answer.isCut).toBe(false);
      return answer.profiles.map(({ profile, matchedBy, identifierType, resolvedFrom }) => [
        profile?.id,
        matchedBy,
        identifierType ?? resolvedFrom,
      ]);
    };
    for (const text of ["ada@example.com", " ADA@EXAMPLE.COM "]) {
      expect(await find(text)).toEqual([[ada.id, "identifier", "email"]]);
    }
    for (const text of ["+351910000123", "+351 910 000-123", "00351 (910) 000.123"]) {
      expect(await find(text)).toEqual([[ada.id, "identifier", "phone"]]);
    }
    expect(await find("42")).toEqual([
      [bob.id, "identifier", "anonymous_id"],
      [ada.id, "identifier", "external_id"],
    ]);
    expect(await find(ada.id.toUpperCase())).toEqual([[ada.id, "id", undefined]]);
    expect(await find(gone.id)).toEqual([[ada.id, "id", gone.id]]);
    for (const text of ["ada@example", "4", "%", newId("prof"), "910000123"]) expect(await find(text)).toEqual([]);
    const { propertyId: other } = await daybook().newProperty();
    for (const text of ["42", ada.id]) expect(await find(text, other)).toEqual([]);
    for (const text of ["", "  ", "x".repeat(256), "a\0b"]) {
      await expect(find(text)).rejects.toMatchObject({ param: "text" });
    }
  });

  test("use of rate windows is what gateways hold of them, for each key", async () => {
    const api: TestProperty = await daybook().newProperty({ rateLimits: { ordinary: 1000 } });
    const { identityUrl, internalToken } = inject("singleProcess");
    const identity = createClient(IdentityService, http2Transport(identityUrl, internalToken));
    const { propertyId, keyId } = api;
    const list = () => identity.listRateWindows({ propertyId, limit: 10 }, testCall);
    expect(await list()).toMatchObject({ windows: [], hasMore: false, lastKeyId: keyId });
    const [use] = await eventually(async () => {
      await api.get("/v1/metrics");
      const { windows } = await list();
      return windows.some(({ window }) => window === RateWindow.ORDINARY) ? windows : undefined;
    });
    expect(use).toMatchObject({ keyId, window: RateWindow.ORDINARY, limit: 1000 });
    expect(use?.granted).toBeGreaterThan(0);
    expect(use?.granted).toBeLessThanOrEqual(1000);
    await api.withScopes(["metrics:read"]);
    expect(await identity.listRateWindows({ propertyId, limit: 1 }, testCall)).toMatchObject({
      hasMore: true,
      lastKeyId: keyId,
    });
    const { windows, hasMore } = await identity.listRateWindows({ propertyId, limit: 1, afterKeyId: keyId }, testCall);
    expect([windows, hasMore]).toEqual([[], false]);
    await expect(identity.listRateWindows({ propertyId, limit: 0 }, testCall)).rejects.toMatchObject({
      message: expect.stringContaining("1 to 500"),
    });
  });

  test("the last minutes have every event up to the watermark", async () => {
    const api = await daybook().newProperty();
    const { propertyId } = api;
    const { id } = await newProfile(api);
    const { events } = clients();
    await record(propertyId, id, 7);
    await record(propertyId, id, 2, "system");
    const count = async (withoutSystem: boolean) => {
      const answer = await events.countRecentEvents({ propertyId, minutes: 60, withoutSystem }, testCall);
      expect([answer.minutes.length, answer.isCut]).toEqual([60, false]);
      const last = answer.minutes.at(-1)?.startsAt?.seconds ?? 0n;
      expect(answer.recordedUpTo?.seconds ?? 0n).toBeGreaterThanOrEqual(last);
      expect(answer.minutes.map(({ startsAt }) => startsAt?.seconds)).toEqual(
        answer.minutes.map((_, index) => last - BigInt(59 - index) * 60n),
      );
      return answer.minutes.reduce((sum, minute) => sum + minute.count, 0n);
    };
    await eventually(async () => ((await count(false)) === 10n ? true : undefined));
    expect(await count(true)).toBe(7n);
    for (const minutes of [0, 61]) {
      const call = events.countRecentEvents({ propertyId, minutes }, testCall);
      await expect(call).rejects.toMatchObject({ param: "minutes" });
    }
  });
});
