/** The operator's commands, as an operator runs them: against npm start, and against the mesh. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { EventsRecordedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { systemClock } from "#shared/values/clock.ts";
import { newId, newUuid } from "#shared/values/ids.ts";
import { createSigner } from "#shared/bus/nats/signature.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { Ended } from "../../gateway/cli/main.ts";
import type { Clients } from "../../gateway/clients.ts";
import { createApi, type Api } from "../support/api.ts";
import { countOf } from "../support/counting.ts";
import { connectTo, connectToMesh, testCall } from "../support/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { publishDeadLetter } from "../support/nats.ts";
import { daybook, meshEnv } from "../support/operator.ts";
import { newProfile } from "../support/people.ts";
import { eventually, inheritedEnv } from "../support/processes.ts";
import { startOneProcess } from "../support/single-process.ts";

/** A command as a process, as an operator starts it. */
async function daybookProcess(env: Record<string, string>, ...words: string[]): Promise<Ended> {
  const child = spawn(process.execPath, ["gateway/cli/main.ts", ...words], {
    env: { ...inheritedEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code: code ?? -1, out, err };
}

/** A Daybook as an operator has it. */
interface Operated {
  env: Record<string, string>;
  api: Api & { baseUrl: string };
  propertyId: string;
}

/** Commands that together reach every service, however it runs. */
function expectServicesReached(connect: () => Promise<Operated>): void {
  test("properties are listed, and tags written and read", async () => {
    const { env, api, propertyId } = await connect();
    const run = async (...words: string[]) => {
      const { code, out, err } = await daybook(env, ...words, "--property", propertyId);
      if (code !== 0) throw new Error(err);
      return out.trim();
    };
    const list = await daybookProcess(env, "properties", "list", "--json");
    expect([list.code, list.err]).toEqual([0, ""]);
    const properties = JSON.parse(list.out) as { id: string; mode: string }[];
    expect(properties).toContainEqual(expect.objectContaining({ id: propertyId, mode: "test" }));

    const { id, path } = await newProfile(api);
    expect(await run("tags", "add", id, "vip", "gold")).toBe("vip\ngold");
    expect(await run("tags", "remove", id, "vip")).toBe("gold");
    expect(await run("tags", "set", id, "silver", "gold")).toBe("gold\nsilver");
    expect(JSON.parse(await run("tags", "list", id, "--json"))).toEqual({ profile_id: id, tags: ["gold", "silver"] });
    const { body, headers } = await api.get(path);
    expect(body.data.tags).toEqual(["gold", "silver"]);
    expect(headers.get("etag")).toBe('"v4"');
  });

  test("events are counted anew", async () => {
    const { env, api, propertyId } = await connect();
    const event = { type: "till.opened", identifier: { type: "card", value: "1" }, properties: {} };
    const { status } = await api.post("/v1/events", event);
    expect(status).toBe(201);
    const asked = { metric: "till.opened", from: "2026-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
    const count = async (): Promise<number | undefined> =>
      (await api.post("/v1/metric-aggregates", asked)).body.data?.series[0].count[0];
    // It follows the answer by a moment.
    expect(await eventually(async () => (await count()) || undefined)).toBe(1);
    const { code, out, err } = await daybook(env, "metrics", "rebuild", "--property", propertyId, "--json");
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toEqual({ properties: 1 });
    expect(await count()).toBe(1);
  });

  test("the outboxes are told of, and what they published is published again", async () => {
    const { env } = await connect();
    const run = async (...words: string[]) => {
      const { code, out, err } = await daybook(env, "bus", ...words, "--json");
      if (code !== 0) throw new Error(err);
      return JSON.parse(out);
    };
    const status = await run("status");
    expect(status).toMatchObject({ bus: "ok", consumers: expect.any(Array), dead_letters: expect.any(Array) });
    const count = expect.any(Number);
    const outbox = { unpublished: count, published: count, bytes: count, failing: expect.any(Array) };
    expect(status.outboxes).toEqual([
      { name: "event", ...outbox },
      { name: "metric", ...outbox },
      { name: "profile", ...outbox },
    ]);
    expect(await run("republish")).toEqual({ republished: { event: count, profile: count, metric: count } });
    expect(await run("retry", "nobody")).toEqual({ retried: 0 });
    const { out } = await daybook(env, "bus", "status");
    expect(out).toMatch(/^outbox event {2}\d+ unpublished {2}\d+ published and not taken {2}\d+ bytes$/m);
  });
}

/** All others, which are the same wherever the services are. */
function expectCommandsWork(connect: () => Promise<Operated>): void {
  test("properties are made with a currency and a time zone, and both are changed", async () => {
    const { env } = await connect();
    const settings = ["--currency", "eur", "--timezone", "europe/berlin"];
    const made = JSON.parse(
      (await daybook(env, "properties", "create", "Shop", "--mode", "test", ...settings, "--json")).out,
    );
    expect(made).toMatchObject({ name: "Shop", mode: "test", default_currency: "EUR", timezone: "Europe/Berlin" });
    const plain = JSON.parse((await daybook(env, "properties", "create", "Plain", "--mode", "test", "--json")).out);
    expect(plain).toMatchObject({ default_currency: "USD", timezone: "UTC" });
    const updated = await daybook(env, "properties", "update", made.id, "--name", "Stall", "--currency", "chf");
    expect([updated.code, updated.out]).toEqual([0, `${made.id}  test  Stall  CHF  Europe/Berlin\n`]);
    const listed = JSON.parse((await daybook(env, "properties", "list", "--json")).out);
    expect(listed).toContainEqual({ ...made, name: "Stall", default_currency: "CHF" });
    for (const [option, value, word] of [
      ["--currency", "euro", "three letters"],
      ["--timezone", "+01:00", "IANA"],
      ["--name", " ", "1 to 255"],
    ]) {
      const { code, err } = await daybook(env, "properties", "update", made.id, option ?? "", value ?? "");
      expect([code, err]).toEqual([1, expect.stringContaining(word ?? "")]);
    }
    const nothing = await daybook(env, "properties", "update", made.id);
    expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining("--timezone")]);
    const missing = await daybook(env, "properties", "update", newId("prop"), "--name", "x");
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("resource_not_found")]);
  });

  test("compact references are switched on and off", async () => {
    const { env, api, propertyId } = await connect();
    const { path } = await newProfile(api);
    const refOf = async () => (await api.get(path)).body.data.profile_ref;
    expect(await refOf()).toBeUndefined();
    expect((await daybook(env, "profile-refs", "enable", "--property", propertyId)).code).toBe(0);
    expect(await refOf()).toMatch(/^p_/);
    expect((await daybook(env, "profile-refs", "disable", "--property", propertyId)).code).toBe(0);
    expect(await refOf()).toBeUndefined();
  });

  test("a redaction asks whether it is meant", async () => {
    const { env, api, propertyId } = await connect();
    const { id, path } = await newProfile(api);
    const words = ["profiles", "redact", id, "--property", propertyId];
    const unsure = await daybookProcess(env, ...words);
    expect([unsure.code, unsure.err]).toEqual([2, expect.stringContaining("--yes")]);
    expect((await api.get(path)).body.data.status).toBe("active");
    expect((await daybook(env, ...words, "--yes")).code).toBe(0);
    expect((await api.get(path)).body.data.status).toBe("redacted");
  });

  test("a redaction of a merged profile says whom it redacted", async () => {
    const { env, api, propertyId } = await connect();
    const [survivor, source] = [await newProfile(api), await newProfile(api)];
    await api.post(`${survivor.path}/merge`, { source_profile_id: source.id });
    const words = ["profiles", "redact", source.id, "--property", propertyId, "--yes"];
    const { code, out } = await daybook(env, ...words);
    expect([code, out]).toEqual([0, expect.stringContaining(`${survivor.id} is redacted. ${source.id} was merged`)]);
    const again = JSON.parse((await daybook(env, ...words, "--json")).out) as object;
    expect(again).toEqual({ id: survivor.id, status: "redacted", resolved_from: source.id });
  });

  test("internal clients are made, listed, changed and ended, and a token is shown once", async () => {
    const { env } = await connect();
    const run = async (...words: string[]) => {
      const { code, out, err } = await daybook(env, "clients", ...words, "--json");
      if (code !== 0) throw new Error(err);
      return JSON.parse(out);
    };
    const list = "daybook.event.v1.EventService/ListEvents";
    const all = "daybook.metric.v1.MetricService/*";
    const made = await run("create", "reporting", "--methods", `${list}, ${all}`);
    expect(made).toMatchObject({ name: "reporting", methods: [list, all], revoked_at: null });
    expect(made.token).toMatch(/^ic_\w{40}$/);
    const { token: _, ...shown } = made;
    expect(await run("list")).toContainEqual(shown);
    expect(await run("update", made.id, "--methods", all)).toEqual({ ...shown, methods: [all] });
    const { err } = await daybook(env, "clients", "create", "reporting", "--methods", all);
    expect(err).toContain("There is a client reporting.");
    const nothing = await daybook(env, "clients", "update", made.id, "--methods", "daybook.event.v1.EventService/None");
    expect(nothing.err).toContain("No service has the method");
    expect((await run("revoke", made.id, "--yes")).revoked_at).not.toBeNull();
    await expect(run("update", made.id, "--methods", all)).rejects.toThrow("There is no such client");
  });

  test("properties and keys are made, and a key is replaced and ended", async () => {
    const { env } = await connect();
    const run = async (...words: string[]) => {
      const { code, out, err } = await daybook(env, ...words, "--json");
      if (code !== 0) throw new Error(err);
      return JSON.parse(out);
    };
    const shop = await run("properties", "create", "Shop", "--mode", "live");
    expect(shop).toMatchObject({ id: expect.stringMatching(/^prop_/), mode: "live", name: "Shop" });
    const property = ["--property", shop.id];
    const key = await run(
      "keys",
      "create",
      "till",
      ...property,
      "--scopes",
      "profiles:read,profiles:write",
      "--revision",
      "2026-05-01",
      "--rate-limit",
      "100",
    );
    expect(key).toMatchObject({
      last_used_at: null,
      rate_limits: { ordinary: 100, backfill: null },
      secret: expect.stringMatching(/^sk_live_/),
      scopes: ["profiles:read", "profiles:write"],
      revision: "2026-05-01",
    });
    const { api: guest } = await connect();
    const call = async (secret: string) => {
      const { status, body, headers } = await createApi(guest.baseUrl, secret).get("/v1/profiles");
      if (status === 200) expect(headers.get("ratelimit-limit")).toBe("100");
      return [status, body.meta?.livemode];
    };
    expect(await call(key.secret)).toEqual([200, true]);

    const { secret, replaced, ...next } = await run("keys", "rotate", key.id, ...property, "--overlap", "60");
    expect(next).toMatchObject({ name: "till", scopes: key.scopes, revision: "2026-05-01", expires_at: null });
    expect(next.rate_limits).toEqual(key.rate_limits);
    expect(replaced).toMatchObject({ id: key.id, expires_at: expect.any(String), revoked_at: null });
    expect([await call(secret), await call(key.secret)]).toEqual([
      [200, true],
      [200, true],
    ]);
    const revoked = await run("keys", "revoke", key.id, ...property, "--yes");
    expect(revoked.revoked_at).not.toBeNull();
    await eventually(async () => ((await call(key.secret))[0] === 401 ? true : undefined), {
      explain: () => "a revoked key still opens",
    });
    expect(await call(secret)).toEqual([200, true]);

    // Gateways tell of uses a moment later.
    const listed: { id: string; revoked_at: string | null; last_used_at: string | null }[] = await eventually(
      async () => {
        const keys = await run("keys", "list", ...property);
        const isTold = keys.every(({ last_used_at: at }: { last_used_at: string | null }) => at !== null);
        return isTold ? keys : undefined;
      },
      { explain: () => "keys were used, and it is not told" },
    );
    expect(listed.map(({ id, revoked_at: at }) => [id, at === null])).toEqual([
      [key.id, false],
      [next.id, true],
    ]);
    expect(JSON.stringify(listed)).not.toContain(secret);
    const shown = await daybook(env, "keys", "list", ...property);
    expect(shown.out).toMatch(/till  used \S+Z  100 requests a minute  revoked/);
    const everything = await run("keys", "create", "all", ...property, "--scopes", "all");
    expect(everything.scopes).toContain("profiles:merge");
  });

  test("what goes wrong is said in a line", async () => {
    const { env, propertyId } = await connect();
    const nobody = "prof_01h00000000000000000000000";
    const cases: [number, RegExp, ...string[]][] = [
      [1, /no such profile.*resource_not_found/, "tags", "add", nobody, "vip", "--property", propertyId],
      [1, /must be an id of the form prof_/, "tags", "add", "x", "vip", "--property", propertyId],
      [2, /--property/, "tags", "add", nobody, "vip"],
      [2, /takes no --mode/, "properties", "list", "--mode", "live"],
      [2, /--mode is live or test/, "properties", "create", "Shop", "--mode", "beta"],
      [1, /no scope coffee:brew/, "keys", "create", "x", "--property", propertyId, "--scopes", "coffee:brew"],
      [1, /at least one scope/, "keys", "create", "x", "--property", propertyId, "--scopes", ""],
      [
        1,
        /ended already/,
        "keys",
        "create",
        "x",
        "--property",
        propertyId,
        "--scopes",
        "all",
        "--expires",
        "2020-01-01T00:00:00Z",
      ],
      [
        1,
        /revisions are/,
        "keys",
        "create",
        "x",
        "--property",
        propertyId,
        "--scopes",
        "all",
        "--revision",
        "2020-01-01",
      ],
      [2, /--expires/, "keys", "create", "x", "--property", propertyId, "--scopes", "all", "--expires", "soon"],
      [
        2,
        /--rate-limit-backfill is a whole number/,
        "keys",
        "create",
        "x",
        "--property",
        propertyId,
        "--scopes",
        "all",
        "--rate-limit-backfill",
        "0",
      ],
      [2, /--overlap/, "keys", "rotate", "key_01h00000000000000000000000", "--property", propertyId, "--overlap", "x"],
      [1, /no such key/, "keys", "rotate", "key_01h00000000000000000000000", "--property", propertyId],
      [1, /no such key/, "keys", "revoke", "key_01h00000000000000000000000", "--property", propertyId, "--yes"],
      [2, /--yes/, "keys", "revoke", "key_01h00000000000000000000000", "--property", propertyId],
      [2, /Use it as: daybook tags add/, "tags", "add"],
      [2, /no command "tags paint"/, "tags", "paint"],
      [2, /--colour/, "tags", "list", "--colour"],
    ];
    await Promise.all(
      cases.map(async ([code, message, ...words]) => {
        const ended = await daybook(env, ...words);
        expect([words, ended.code, ended.out]).toEqual([words, code, ""]);
        expect(ended.err).toMatch(message);
        expect(ended.err).not.toMatch(/\n +at /);
      }),
    );
  });
}

describe("commands on npm start", () => {
  const owner = new Owner();
  let local: (Operated & { clients: Clients }) | undefined;
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "daybook-operator-"));
    owner.defer(() => rm(folder, { recursive: true, force: true }));
    const { url } = owner.own(await createDatabase(inject("databaseUrl")));
    const addresses = await startOneProcess(url, folder, owner);
    const reached = connectTo(addresses);
    const { propertyId, ...api } = await reached.newProperty();
    local = {
      env: { DATA_DIR: folder },
      api: { ...api, baseUrl: addresses.gatewayUrl },
      propertyId,
      clients: reached.clients,
    };
  });
  afterAll(() => owner.close());

  const connect = (): Promise<Operated & { clients: Clients }> =>
    local ? Promise.resolve(local) : Promise.reject(new Error("it has not started"));
  expectServicesReached(connect);
  expectCommandsWork(connect);

  test("members are set up, invited, listed, given other roles and removed, and the audit tells of it", async () => {
    const { env, api, propertyId, clients } = await connect();
    const run = async (...words: string[]) => {
      const { code, out, err } = await daybook(env, "members", ...words, "--json");
      if (code !== 0) throw new Error(err);
      return JSON.parse(out);
    };
    const tokenOf = ({ url }: { url: string }, page: string): Uint8Array => {
      const [before, token = ""] = url.split("#");
      expect(before).toBe(`${api.baseUrl}/dashboard/${page}`);
      return createHash("sha256").update(token).digest();
    };
    const password = "correct horse battery";
    const setup = { tokenHash: tokenOf(await run("setup"), "setup"), email: "ada@example.com", name: "Ada", password };
    const { member: ada } = await clients.members.acceptLink(setup, testCall);
    const refused = await daybook(env, "members", "setup");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("There is a member already")]);

    const invited = await run("invite", "Grace@Example.com", "--role", "support", "--property", propertyId);
    expect(invited).toMatchObject({
      email: "grace@example.com",
      grants: [{ role: "support", property_id: propertyId }],
      invited_by: null,
    });
    expect(await run("invitations")).toMatchObject([{ id: invited.id }]);
    const accept = { tokenHash: tokenOf(invited, "invitation"), name: "Grace", password };
    const { member: grace } = await clients.members.acceptLink(accept, testCall);
    const list = await daybook(env, "members", "list");
    expect(list.out).toMatch(/^mem_\w+ {2}ada@example\.com {2}Ada {2}admin {2}seen 20/m);
    expect(list.out).toMatch(
      new RegExp(`^${grace?.id} {2}grace@example\\.com {2}Grace {2}support of ${propertyId}`, "m"),
    );

    const id = grace?.id ?? "";
    expect(await run("update", id, "--role", "viewer")).toMatchObject({
      id,
      grants: [{ role: "viewer", property_id: null }],
    });
    const lost = await run("invite", "grace@example.com");
    expect(await run("revoke", lost.id)).toEqual({ id: lost.id });
    expect(await run("invitations")).toEqual([]);
    expect(await run("remove", id, "--yes")).toEqual({ id });
    const last = await daybook(env, "members", "remove", ada?.id ?? "", "--yes");
    expect([last.code, last.err]).toEqual([1, expect.stringContaining("No admin of all properties would be left")]);
    for (const [words, message] of [
      [["invite", "b@example.com", "--role", "king"], "--role is one of admin, developer, support, viewer."],
      [["invite", "b@example.com", "--property", propertyId], "--property needs a --role."],
    ] as const) {
      const { code, err } = await daybook(env, "members", ...words);
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    }
    const entries = (await run("audit")) as { action: string; target_ids: string[]; member_id: null }[];
    expect(
      entries.map(({ action, target_ids: targets, member_id: member }) => [action.split("/")[1], targets, member]),
    ).toEqual([
      ["RemoveMember", [id], null],
      ["RevokeInvitation", [lost.id], null],
      ["InviteMember", [lost.id], null],
      ["UpdateMember", [id], null],
      ["InviteMember", [invited.id], null],
      ["CreateSetupLink", [], null],
    ]);
    expect(await run("audit", "--property", propertyId)).toMatchObject([{ target_ids: [invited.id] }]);
    const { out } = await daybook(
      { ...env, PUBLIC_URL: "https://shop.example.com/" },
      "members",
      "invite",
      "ada@example.com",
    );
    expect(out).toMatch(/^https:\/\/shop\.example\.com\/dashboard\/invitation#[\w-]{43}\nIt works once/);
  });

  test("apps are made, changed and suspended, installations listed and ended, and the audit tells of it", async () => {
    const { env, clients, propertyId } = await connect();
    const run = async (...words: string[]) => {
      const { code, out, err } = await daybook(env, ...words, "--json");
      if (code !== 0) throw new Error(err);
      return JSON.parse(out);
    };
    const uris = "https://app.example.com/back,1 https://app.example.com/b";
    const fields = ["--redirect-uris", uris, "--scopes", "events:read, profiles:read", "--description", "Counts tea"];
    const app = await run("apps", "create", "Tea", "--type", "confidential", ...fields);
    expect(app).toMatchObject({
      redirect_uris: uris.split(" "),
      scopes: ["events:read", "profiles:read"],
      type: "confidential",
      status: "active",
      homepage_url: null,
      webhook: null,
      secret: expect.stringMatching(/^cs_\w{43}$/),
    });
    const { secret: first, ...shown } = app;
    expect(await run("apps", "show", app.id)).toEqual(shown);
    const added = await daybook(env, "apps", "add-secret", app.id);
    expect(added.out).toMatch(new RegExp(`^cs_\\w{43}\n${app.id}; the secret is shown this once\\.\n$`));
    const removed = await run("apps", "remove-secret", app.id, shown.secrets[0].id, "--yes");
    expect(removed.secrets).toMatchObject([{ prefix: added.out.slice(0, 12) }]);
    expect(JSON.stringify(removed)).not.toContain(first);

    const change = ["--name", "Tea 2", "--homepage", "https://app.example.com/"];
    expect(await run("apps", "update", app.id, ...change)).toMatchObject({
      name: "Tea 2",
      description: "Counts tea",
      redirect_uris: uris.split(" "),
      homepage_url: "https://app.example.com/",
    });
    const webhook = [
      "--webhook-url",
      "https://app.example.com/hook",
      "--webhook-types",
      "event.recorded, event.linked",
    ];
    expect(await run("apps", "update", app.id, "--homepage", "", ...webhook)).toMatchObject({ homepage_url: null });
    expect(await run("apps", "update", app.id, "--webhook-types", "*")).toMatchObject({
      webhook: { url: "https://app.example.com/hook", types: ["*"] },
    });
    expect(await run("apps", "update", app.id, "--webhook-url", "")).toMatchObject({ webhook: null });
    const consent = { appId: app.id, propertyId, scopes: ["events:read"], memberId: newId("mem") };
    const { installation } = await clients.oauth.installApp(consent, testCall);
    const id = installation?.id ?? "";
    expect(await run("apps", "list", "--property", propertyId)).toMatchObject([{ id: app.id }]);
    expect(await run("installations", "list", "--property", propertyId)).toMatchObject([{ id, status: "active" }]);
    const ended = await run("installations", "end", id, "--property", propertyId, "--yes");
    expect(ended).toMatchObject({ id, status: "revoked", revoked_reason: "operator" });
    await clients.oauth.installApp(consent, testCall);
    expect(await run("apps", "suspend", app.id, "--yes")).toMatchObject({ status: "suspended" });
    const list = await daybook(env, "installations", "list", "--app", app.id);
    expect(list.out).toMatch(
      new RegExp(`^${id} {2}${app.id} {2}${propertyId} .*never used {2}ended .* \\(suspended\\)\n$`),
    );
    expect(await run("apps", "activate", app.id)).toMatchObject({ status: "active" });
    expect((await daybook(env, "apps", "list")).out).toContain(`${app.id}  Tea 2  confidential  active  events:read,`);

    const open = await daybook(env, "apps", "create", "Open", "--type", "public", ...fields);
    expect(open.out).toMatch(/^app_\w{26}\n$/);
    for (const [words, exit, message] of [
      [["apps", "create", "x", "--type", "king", ...fields], 2, "--type is confidential or public."],
      [["apps", "create", "x"], 2, "Use it as: daybook apps create <name>"],
      [["apps", "create", "x", "--type", "public", ...fields, "--homepage", "x"], 1, "`homepage_url` must"],
      [["apps", "update", app.id, "--webhook-types", "*"], 2, "--webhook-types needs --webhook-url."],
      [["apps", "webhook-secret", app.id, "--grace", "day"], 2, "--grace"],
      [["apps", "suspend", app.id], 2, "--yes"],
      [["apps", "show", "x"], 1, "`app_id` must be an id"],
      [["installations", "list"], 2, "Say --property, --app, or both."],
    ] as const) {
      const { code, err } = await daybook(env, ...words);
      expect([code, err]).toEqual([exit, expect.stringContaining(message)]);
    }
    const entries = (await run("members", "audit")) as { action: string; target_ids: string[]; property_id: string }[];
    const ofApps = entries.filter(({ action }) => action.includes("AppService")).toReversed();
    const updated = ["UpdateApp", [app.id], null];
    expect(
      ofApps.map(({ action, target_ids: targets, property_id: property }) => [action.split("/")[1], targets, property]),
    ).toEqual([
      ["CreateApp", [app.id], null],
      ["AddAppSecret", [app.id], null],
      ["RemoveAppSecret", [app.id, shown.secrets[0].id], null],
      updated,
      updated,
      updated,
      updated,
      ["EndInstallation", [id], propertyId],
      updated,
      updated,
      ["CreateApp", [open.out.trim()], null],
    ]);
  });

  test("nobody else can read how its services are reached", async () => {
    expect((await stat(join(folder, "connection.json"))).mode & 0o077).toBe(0);
  });
});

describe("commands on the mesh", () => {
  expectServicesReached(async () => {
    const api = await connectToMesh().newProperty();
    return { env: meshEnv(), api: { ...api, baseUrl: inject("mesh").gatewayUrl }, propertyId: api.propertyId };
  });

  test("a link to an invitation is a path where nothing says the address", async () => {
    const email = `${newId("key")}@example.com`;
    const { code, out } = await daybook(meshEnv(), "members", "invite", email, "--role", "viewer");
    const { members } = connectToMesh().clients;
    const invitation = (await members.listInvitations({}, testCall)).invitations.find((each) => each.email === email);
    await members.revokeInvitation({ invitationId: invitation?.id ?? "" }, testCall);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^\/dashboard\/invitation#[\w-]{43}\nOpen this path at the address/),
    ]);
  });
});

test("a dead letter of the mesh is shown with its reason, and given back to who failed", async () => {
  const env = meshEnv();
  const mesh = connectToMesh();
  const { propertyId } = await mesh.newProperty();
  const [id, at] = [newUuid(), toTimestamp(systemClock.nowMicros())];
  const event = {
    id: newId("evt"),
    type: "dead.letter",
    propertiesJson: "{}",
    source: "api",
    occurredAt: at,
    receivedAt: at,
  };
  const message = create(EventsRecordedSchema, { batchId: id, propertyId, events: [event] });
  const payload = toBinary(EventsRecordedSchema, message);
  await publishDeadLetter(inject("natsUrl"), createSigner(inject("mesh").internalToken), {
    consumer: "metric",
    id,
    subject: "daybook.event.recorded",
    payload,
  });
  const status = JSON.parse((await daybook(env, "bus", "status", "--json")).out);
  expect(status.consumers.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(["event_anonymous", "event_profiles", "metric"]),
  );
  expect(status.dead_letters).toContainEqual({
    consumer: "metric",
    message_id: id,
    subject: "daybook.event.recorded",
    reason: "it was put there by a test",
    deliveries: 10,
    died_at: expect.any(String),
  });
  const retry = await daybook(env, "bus", "retry", "metric");
  expect([retry.code, retry.out]).toEqual([0, "1 messages were given back.\n"]);
  await eventually(async () => ((await countOf(mesh, propertyId, "dead.letter")) === 1 ? true : undefined));
});

test("help lists every command, and without a Daybook the others say so", async () => {
  const { code, out } = await daybook({}, "help");
  expect(code).toBe(0);
  for (const name of [
    "properties list",
    "properties create",
    "properties update",
    "keys create",
    "keys list",
    "keys rotate",
    "keys revoke",
    "members setup",
    "members invite",
    "members list",
    "members invitations",
    "members revoke",
    "members update",
    "members remove",
    "members audit",
    "apps list",
    "apps show",
    "apps create",
    "apps update",
    "apps suspend",
    "apps activate",
    "apps add-secret",
    "apps remove-secret",
    "installations list",
    "installations end",
    "tags add",
    "tags remove",
    "tags set",
    "tags list",
    "profile-refs enable",
    "profiles redact",
    "webhooks list",
    "webhooks create",
    "webhooks get",
    "webhooks update",
    "webhooks delete",
    "webhooks rotate-secret",
    "webhooks test",
    "webhooks replay",
    "webhooks deliveries",
    "webhooks retry",
    "apps webhook-secret",
    "privacy requests",
    "privacy create",
    "privacy get",
    "privacy retry",
    "privacy cancel",
    "privacy suppressions",
    "privacy unsuppress",
    "bus status",
    "bus republish",
    "bus retry",
  ]) {
    expect(out).toContain(name);
  }
  const broken = await mkdtemp(join(tmpdir(), "daybook-broken-"));
  try {
    await writeFile(join(broken, "connection.json"), "{bad");
    const ended = await daybook({ DATA_DIR: broken }, "properties", "list");
    expect([ended.code, ended.err]).toEqual([
      1,
      expect.stringContaining("connection.json is not what a running Daybook writes"),
    ]);
  } finally {
    await rm(broken, { recursive: true });
  }
  const { identityUrl } = inject("mesh");
  const stranger = { IDENTITY_URL: identityUrl, INTERNAL_TOKEN: "a token of some other mesh of services" };
  const refused = await daybookProcess(stranger, "properties", "list");
  expect([refused.code, refused.err]).toEqual([1, "INTERNAL_TOKEN is not that of these services.\n"]);
  const short = await daybook({ ...stranger, INTERNAL_TOKEN: "short" }, "properties", "list");
  expect([short.code, short.err]).toEqual([1, expect.stringContaining("at least 32 characters")]);
  const alone = await daybook({ DATA_DIR: join(tmpdir(), "there-is-none") }, "properties", "list");
  expect([alone.code, alone.err]).toEqual([1, expect.stringContaining("npm start")]);
});
