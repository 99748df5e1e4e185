/** The operator's commands for webhooks and privacy requests, on the mesh. */
import { beforeAll, expect, test } from "vitest";
import { newId } from "#shared/values/ids.ts";
import { connectToMesh, type TestProperty } from "../support/daybook.ts";
import { daybook, meshEnv } from "../support/operator.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

let api: TestProperty;
beforeAll(async () => {
  api = await connectToMesh().newProperty();
});

/** Runs a command for the property, which must succeed. @returns its JSON. */
async function run(...words: string[]) {
  const { code, out, err } = await daybook(meshEnv(), ...words, "--property", api.propertyId, "--json");
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

/** The same for one that fails. @returns its exit code, 2 for a wrong use, and what it says. */
async function fail(...words: string[]): Promise<[code: number, err: string]> {
  const { code, err } = await daybook(meshEnv(), ...words);
  return [code, err];
}

/** Runs commands of an area for the property, of which each fails as it is said. */
async function expectFailures(area: string, commands: [words: string[], code: number, message: string][]) {
  for (const [words, code, message] of commands) {
    const failed = await fail(area, ...words, "--property", api.propertyId);
    expect([words, ...failed]).toEqual([words, code, expect.stringContaining(message)]);
  }
}

/** What the audit says of the property, newest first. */
async function auditOf(): Promise<[action: string, targets: string[]][]> {
  const entries = (await run("members", "audit")) as { action: string; target_ids: string[] }[];
  return entries.map(({ action, target_ids: targets }) => [action.split("/")[1] ?? "", targets]);
}

const url = "https://nobody.invalid/daybook";

test("an endpoint is made, changed, tested, given back its messages and deleted, and the audit tells of it", async () => {
  const made = await run("webhooks", "create", url, "--types", "event.recorded", "--event-types", "order.*");
  const { secret, ...endpoint } = made;
  const { id } = endpoint;
  expect(secret).toMatch(/^whsec_/);
  expect(endpoint).toMatchObject({ url, types: ["event.recorded"], filter: { event_types: ["order.*"] } });
  expect(await run("webhooks", "get", id)).toEqual(endpoint);
  expect(await run("webhooks", "list")).toEqual([endpoint]);

  const updated = await run("webhooks", "update", id, "--description", "Orders", "--event-types", "");
  expect(updated).toMatchObject({ description: "Orders", filter: null, url });
  expect(await run("webhooks", "update", id, "--status", "disabled")).toMatchObject({ status: "disabled" });
  expect(await run("webhooks", "update", id, "--status", "enabled")).toMatchObject({ status: "enabled" });
  const rotated = await run("webhooks", "rotate-secret", id, "--grace", "60");
  expect(rotated).toMatchObject({ id, secret: expect.stringMatching(/^whsec_/) });
  expect(rotated.secret).not.toBe(secret);

  const tested = await run("webhooks", "test", id);
  expect(tested).toMatchObject({ endpoint_id: id, type: "webhook.test" });
  const from = new Date(Date.now() - 60_000).toISOString();
  const event = { type: "order.placed", identifier: { type: "card", value: "1" }, properties: {} };
  expect((await api.post("/v1/events", event)).status).toBe(201);
  const failed = await eventually(async () => {
    const deliveries = await run("webhooks", "deliveries", "--endpoint", id, "--types", "event.recorded");
    return (deliveries as { id: string; last_error: string | null }[]).find(({ last_error: error }) => error !== null);
  });
  expect(failed).toMatchObject({ endpoint_id: id, type: "event.recorded", last_error: "dns_error" });
  expect(await run("webhooks", "retry", failed.id)).toMatchObject({ id: failed.id, endpoint_id: id });
  const replay = await run("webhooks", "replay", id, "--from", from, "--to", new Date().toISOString(), "--only", "all");
  expect(replay).toMatchObject({ object: "webhook_replay", only: "all" });

  const unsure = await fail("webhooks", "delete", id, "--property", api.propertyId);
  expect(unsure).toEqual([2, expect.stringContaining("Say --yes")]);
  expect(await run("webhooks", "delete", id, "--yes")).toEqual({ id, deleted: true });
  expect(await run("webhooks", "list")).toEqual([]);
  expect(await auditOf()).toEqual([
    ["DeleteEndpoint", [id]],
    ["CreateReplay", [id]],
    ["RetryDelivery", [failed.id]],
    ["TestEndpoint", [id]],
    ["RotateEndpointSecret", [id]],
    ["UpdateEndpoint", [id]],
    ["UpdateEndpoint", [id]],
    ["UpdateEndpoint", [id]],
    ["CreateEndpoint", [id]],
  ]);
});

test("what is wrong with a command for webhooks is said", async () => {
  const id = newId("hook");
  await expectFailures("webhooks", [
    [["create", "https://10.0.0.1/", "--types", "event.recorded"], 1, "url_not_allowed"],
    [["create", url, "--types", "nothing.known"], 1, "nothing.known"],
    [["create", url], 2, "--types"],
    [["update", id, "--status", "paused"], 2, "enabled or disabled"],
    [["rotate-secret", id, "--grace", "-1"], 2, "--grace"],
    [["rotate-secret", id, "--grace", "604801"], 2, "--grace"],
    [["replay", id, "--from", "yesterday", "--to", "2026-01-02T00:00:00Z"], 2, "--from"],
    [["replay", id, "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z", "--only", "some"], 2, "--only"],
    [["deliveries", "--status", "lost"], 2, "pending, delivered, failed or cancelled"],
    [["get", id], 1, "resource_not_found"],
    [["test", id], 1, "resource_not_found"],
    [["delete", id, "--yes"], 1, "resource_not_found"],
    [["retry", newId("dlv")], 1, "resource_not_found"],
  ]);
  const app = await fail("apps", "webhook-secret", newId("app"));
  expect(app).toEqual([1, expect.stringContaining("resource_not_found")]);
});

test("a person's data is asked for, and erased and kept out, and the audit tells of it", async () => {
  const email = `ada.${api.propertyId}@example.com`;
  const { id: profile } = await newProfile(api, { identifiers: [{ type: "email", value: email }] });
  const later = new Date(Date.now() + 24 * 3_600_000).toISOString();
  const waiting = await run("privacy", "create", "access", profile, "--reference", "case-7", "--not-before", later);
  expect(waiting).toMatchObject({ type: "access", status: "pending", reference: "case-7", created_by: "operator" });
  // A repeat is known by its reference.
  const again = await run("privacy", "create", "access", profile, "--reference", "case-7", "--not-before", later);
  expect(again.id).toBe(waiting.id);
  expect(await run("privacy", "get", waiting.id)).toEqual(waiting);
  expect((await run("privacy", "requests", "pending")).map(({ id }: { id: string }) => id)).toEqual([waiting.id]);
  expect(await run("privacy", "cancel", waiting.id)).toMatchObject({ id: waiting.id, status: "cancelled" });
  const retried = await fail("privacy", "retry", waiting.id, "--yes", "--property", api.propertyId);
  expect(retried).toEqual([1, expect.stringContaining("invalid_state_transition")]);

  const unsure = await fail("privacy", "create", "erasure", `email=${email}`, "--property", api.propertyId);
  expect(unsure).toEqual([2, expect.stringContaining("Say --yes")]);
  const erasure = await run("privacy", "create", "erasure", `email=${email}`, "--suppress", "yes", "--yes");
  // It ends with the last sweep, minutes later.
  const begun = await eventually(async () => {
    const request = await run("privacy", "get", erasure.id);
    return request.status === "in_progress" ? request : undefined;
  });
  expect(begun).toMatchObject({ type: "erasure", profile_ids: [profile] });
  const [suppression, ...others] = await eventually(async () => {
    const found = await run("privacy", "suppressions");
    return found.length > 0 ? found : undefined;
  });
  expect(others).toEqual([]);
  expect(suppression).toMatchObject({ type: "email", privacy_request_id: erasure.id });
  expect(await run("privacy", "unsuppress", suppression.id)).toEqual({ id: suppression.id, deleted: true });
  expect((await auditOf()).slice(0, 4)).toEqual([
    ["DeleteSuppression", [suppression.id]],
    ["CreatePrivacyRequest", [erasure.id]],
    ["CancelPrivacyRequest", [waiting.id]],
    ["CreatePrivacyRequest", [waiting.id]],
  ]);
});

test("what is wrong with a command for privacy requests is said", async () => {
  await expectFailures("privacy", [
    [["create", "deletion", newId("prof")], 2, "access or erasure"],
    [["create", "access"], 2, "Use it as"],
    [["create", "access", "email=a@example.com", "ada"], 2, "with its type"],
    [["create", "access", "email=nobody"], 1, "email"],
    [["create", "access", newId("prof"), "--suppress", "maybe"], 2, "yes or no"],
    [["requests", "lost"], 2, "pending"],
    [["get", newId("priv")], 1, "resource_not_found"],
    [["cancel", newId("priv")], 1, "resource_not_found"],
    [["unsuppress", newId("supp")], 1, "resource_not_found"],
  ]);
});
