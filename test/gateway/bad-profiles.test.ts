/** Every bad write of a profile gets its own error with `param`, and leaves nothing behind. */
import { beforeAll, describe, expect, test } from "vitest";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { newProfile, type Person } from "../support/people.ts";
import { expectError, expectNothingBehind } from "../support/refusals.ts";
import { profileId, type Case } from "./bad-events.cases.ts";
import { guideCases, operationCases, profileCases, updateCases } from "./bad-profiles.cases.ts";

describeOnce("bad profiles", (daybook) => {
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
  });

  describe("POST /v1/profiles", () => {
    test.each(profileCases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/profiles", body), status, code, param);
      await expectNothingBehind(daybook(), api);
    });
  });

  describe("POST /v1/profiles/upsert", () => {
    const email = [{ type: "email", value: "ada@example.com" }];
    const withIdentifiers = (body: unknown): unknown =>
      typeof body === "string"
        ? body.replace("{", `{"identifiers":${JSON.stringify(email)},`)
        : { identifiers: email, ...(body as object) };
    const cases = [
      ...profileCases,
      ...guideCases,
      ...operationCases.map(([name, body, ...refusal]): Case => [name, withIdentifiers(body), ...refusal]),
    ];
    test.each(cases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/profiles/upsert", body), status, code, param);
      await expectNothingBehind(daybook(), api);
    });

    test("every field at fault is listed, the first on top", async () => {
      const { body } = await api.post("/v1/profiles/upsert", {
        identifiers: [{ type: "email", value: "nobody" }, ...email, { type: "phone", value: "1" }, ...email],
        attribute_operations: [
          { op: "set", path: "a" },
          { op: "set", path: "a", value: 1 },
          { op: "set", path: ["b", "\0"], value: 1 },
        ],
        location: { country: "ZZ", timezone: "x", zip: "1".repeat(33) },
      });
      expect(body.error.errors.map(({ code, param }: { code: string; param: string }) => [code, param])).toEqual([
        ["parameter_invalid", "identifiers.0.value"],
        ["parameter_invalid", "identifiers.2.value"],
        ["parameter_invalid", "identifiers.3"],
        ["parameter_missing", "attribute_operations.0.value"],
        ["parameter_invalid", "attribute_operations.2.path.1"],
        ["parameter_invalid", "location.country"],
        ["parameter_invalid", "location.timezone"],
        ["parameter_invalid", "location.zip"],
      ]);
      expect(body.error).toMatchObject({ code: "parameter_invalid", param: "identifiers.0.value" });
    });
  });

  test("faults within attributes are listed each, and of what is wrong in itself it is said once", async () => {
    const params = async (path: string, body: unknown, method: "post" | "patch" = "post"): Promise<string[]> => {
      const answer = await api[method](path, body);
      expect(answer.status).toBe(400);
      const { error } = answer.body;
      return (error.errors ?? [error]).map(({ param }: { param: string }) => param);
    };
    const identifiers = [{ type: "email", value: "ada@example.com" }];
    expect(await params("/v1/profiles", { identifiers, attributes: { a: "\0", b: { c: "\0" }, d: 1 } })).toEqual([
      "attributes.a",
      "attributes.b.c",
    ]);
    const location = { city: 1 };
    expect(await params(`/v1/profiles/${profileId}`, { attributes: { a: 1 }, location }, "patch")).toEqual([
      "location.city",
    ]);
    expect(await params(`/v1/profiles/${profileId}/identifiers`, { type: "X", value: "" })).toEqual(["type", "value"]);
  });

  describe("POST /v1/profiles/batch", () => {
    const item = { identifiers: [{ type: "email", value: "ada@example.com" }] };
    const cases: Case[] = [
      ["no profiles", {}, 400, "parameter_missing", "profiles"],
      ["an empty batch", { profiles: [] }, 400, "parameter_missing", "profiles"],
      ["101 profiles", { profiles: Array.from({ length: 101 }, () => item) }, 400, "too_many_items", "profiles"],
      ["an unknown field", { profiles: [item], backfill: true }, 400, "parameter_unknown", "backfill"],
    ];
    test.each(cases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/profiles/batch", body), status, code, param);
      await expectNothingBehind(daybook(), api);
    });

    test("If-Match", async () => {
      const headers = { "if-match": '"v1"' };
      expectError(
        await api.post("/v1/profiles/batch", { profiles: [item] }, { headers }),
        400,
        "parameter_invalid",
        "If-Match",
      );
      await expectNothingBehind(daybook(), api);
    });

    test("a value that is none of those there are", async () => {
      const message = async (body: object) => (await api.patch(`/v1/profiles/${profileId}`, body)).body.error.message;
      expect(await message({ attribute_operations: [{ op: "add", path: "a", value: 1 }] })).toBe(
        '`attribute_operations.0.op` must be one of "set", "delete", "append_unique" or "remove"; got "add".',
      );
    });

    test("items that are refused one by one", async () => {
      const profiles = [
        { ...item, idempotency_key: "two words" },
        { ...item, client_reference: "x".repeat(256) },
        { ...item, idempotency_key: "" },
        null,
      ];
      const { status, body } = await api.post("/v1/profiles/batch", { profiles });
      expect(status).toBe(200);
      expect(body.data.counts).toEqual({ succeeded: 0, failed: 4 });
      expect(body.data.results.map(({ error }: { error: { param: string } }) => error.param)).toEqual([
        "idempotency_key",
        "client_reference",
        "idempotency_key",
        null,
      ]);
      await expectNothingBehind(daybook(), api);
    });
  });

  describe("writes to a profile", () => {
    let person: Person;
    let owner: TestProperty;
    beforeAll(async () => {
      owner = await daybook().newProperty();
      person = await newProfile(owner, { attributes: { kept: 1 } });
    });
    const expectUnchanged = async (): Promise<void> => {
      expect((await owner.get(person.path)).headers.get("etag")).toBe(person.etag);
    };

    test.each([...operationCases, ...updateCases])("an update with %s", async (_name, body, status, code, param) => {
      expectError(await owner.patch(person.path, body), status, code, param);
      await expectUnchanged();
    });

    test.each(["v1", "1", '"v1', "", '"v1" "v2"', "v1, v2", '"a"b"', "*,*", '"v1",', "x".repeat(2000)])(
      "an If-Match of %j",
      async (ifMatch) => {
        const headers = { "if-match": ifMatch };
        const answer = await owner.patch(person.path, { attributes: { a: 1 } }, { headers });
        // A header without content is as none at all to some clients, not to ours.
        expectError(answer, 400, "parameter_invalid", "If-Match");
        await expectUnchanged();
      },
    );

    const identifierCases: Case[] = [
      ["an empty body", {}, 400, "parameter_missing", "type"],
      ["no value", { type: "email" }, 400, "parameter_missing", "value"],
      ["a bad phone", { type: "phone", value: "123" }, 400, "parameter_invalid", "value"],
      ["a bad type", { type: "E-Mail", value: "a@b.c" }, 400, "parameter_invalid", "type"],
      [
        "an unknown field",
        { type: "email", value: "a@b.c", verified_at: null },
        400,
        "parameter_unknown",
        "verified_at",
      ],
      ["half a surrogate pair", '{"type":"card","value":"\\ud800"}', 400, "parameter_invalid", "value"],
    ];
    test.each(identifierCases)("an identifier with %s", async (_name, body, status, code, param) => {
      expectError(await owner.post(`${person.path}/identifiers`, body), status, code, param);
      await expectUnchanged();
    });

    test.each([
      ["false", { is_primary: false }, "parameter_invalid", "is_primary"],
      ["nothing", {}, "parameter_missing", "is_primary"],
      ["a value", { is_primary: true, value: "x" }, "parameter_unknown", "value"],
    ])("a change of an identifier to %s", async (_name, body, code, param) => {
      const path = `${person.path}/identifiers/${person.identifier_ids[0]}`;
      expectError(await owner.patch(path, body), 400, code, param);
      await expectUnchanged();
    });

    test("identifiers that are not there, or not ids", async () => {
      const unknown = `${person.path}/identifiers/idnt_01h00000000000000000000000`;
      expectError(await owner.get(unknown), 404, "resource_not_found", "identifier_id");
      expectError(await owner.patch(unknown, { is_primary: true }), 404, "resource_not_found", "identifier_id");
      expectError(await owner.delete(unknown), 404, "resource_not_found", "identifier_id");
      expectError(await owner.delete(`${person.path}/identifiers/${person.id}`), 400, "invalid_id", "identifier_id");
      const others = (await newProfile(owner)).identifier_ids[0];
      expectError(
        await owner.delete(`${person.path}/identifiers/${others}`),
        404,
        "resource_not_found",
        "identifier_id",
      );
    });

    test.each([
      ["nothing", {}, 400, "parameter_missing"],
      ["an event", { source_profile_id: "evt_01h00000000000000000000000" }, 400, "invalid_id"],
      ["nobody", { source_profile_id: profileId }, 404, "resource_not_found"],
    ])("a merge with %s", async (_name, body, status, code) => {
      expectError(await owner.post(`${person.path}/merge`, body), status, code, "source_profile_id");
      await expectUnchanged();
    });

    test("to a profile of another property, as to one that never was", async () => {
      const attempts = (who: TestProperty, path: string, id = "idnt_01h00000000000000000000000") => [
        who.get(path),
        who.get(`${path}?resolve=false`),
        who.patch(path, { attributes: { a: 1 } }),
        who.post(`${path}/merge`, { source_profile_id: profileId }),
        who.get(`${path}/identifiers`),
        who.post(`${path}/identifiers`, { type: "card", value: "1" }),
        who.patch(`${path}/identifiers/${id}`, { is_primary: true }),
        who.delete(`${path}/identifiers/${id}`),
      ];
      const stranger = await daybook().newProperty();
      const bodies = async (path: string, id?: string) =>
        (await Promise.all(attempts(stranger, path, id))).map(({ status, text }) => [
          status,
          text.replace(/req_[0-9a-z]{26}/, ""),
        ]);
      const theirs = await bodies(person.path, person.identifier_ids[0]);
      expect(theirs).toEqual(await bodies(`/v1/profiles/${profileId}`));
      expect(new Set(theirs.map(([status]) => status))).toEqual(new Set([404]));
      await expectUnchanged();
    });
  });
});
