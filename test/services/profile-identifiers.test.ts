/**
 * Writes by identifiers that several profiles have, identifiers within updates, and lists by id, identifier and email.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  AttributeOperator,
  ProfileSort,
  type ListProfilesRequestSchema,
  type Profile,
  type UpdateProfileRequestSchema,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { newId } from "#shared/values/ids.ts";
import { describeEverywhere, testCall } from "../support/daybook.ts";

type Update = MessageInitShape<typeof UpdateProfileRequestSchema>;
type List = MessageInitShape<typeof ListProfilesRequestSchema>;

const identifier = (type: string, value: string, isPrimary = false) => ({ type, value, isPrimary });
const valuesOf = (profile: Profile | undefined) => profile?.identifiers.map(({ value }) => value).toSorted();

describeEverywhere("identifiers of profiles", (daybook) => {
  const make = async (propertyId: string, ...identifiers: ReturnType<typeof identifier>[]): Promise<Profile> => {
    const { profile } = await daybook().clients.profiles.createProfile(
      { propertyId, identifiers, source: "test" },
      testCall,
    );
    if (!profile) throw new Error("no profile was made");
    return profile;
  };
  const update = async (propertyId: string, profileId: string, fields: Update): Promise<Profile> => {
    const request = { propertyId, profileId, source: "test", ...fields };
    const { profile } = await daybook().clients.profiles.updateProfile(request, testCall);
    if (!profile) throw new Error("there is no profile");
    return profile;
  };
  const refusal = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined).catch((error) => error);

  test("the first identifier that anybody has decides, where it is to, and others stay where they are", async () => {
    const { propertyId } = await daybook().newProperty();
    const one = await make(propertyId, identifier("email", "one@example.com"));
    const two = await make(propertyId, identifier("phone", "+15550100001"));
    const identifiers = [
      identifier("external_id", "new"),
      identifier("phone", "+15550100001"),
      identifier("email", "one@example.com"),
    ];
    const { profiles } = daybook().clients;
    const fields = { propertyId, identifiers, source: "test", attributesJson: '{"a":1}' };
    const conflict = await refusal(profiles.upsertProfile(fields, testCall));
    expect(conflict).toMatchObject({ code: "identity_conflict" });
    const { results } = await profiles.upsertProfiles(
      { propertyId, items: [{ ...fields, preferFirst: true }, fields], returnProfiles: true },
      testCall,
    );
    expect(results.map(({ outcome }) => outcome.case)).toEqual(["upserted", "error"]);
    const { profile, created } = await profiles.upsertProfile({ ...fields, preferFirst: true }, testCall);
    expect([created, profile?.id, profile?.attributesJson]).toEqual([false, two.id, '{"a":1}']);
    expect(valuesOf(profile)).toEqual(["+15550100001", "new"]);
    const { profiles: read } = await profiles.getProfiles({ propertyId, profileIds: [one.id] }, testCall);
    expect(valuesOf(read[0])).toEqual(["one@example.com"]);
  });

  test("an update writes all of it once, and attributes before operations", async () => {
    const { propertyId } = await daybook().newProperty();
    const person = await make(
      propertyId,
      identifier("email", "old@example.com", true),
      identifier("phone", "+15550100002"),
    );
    const old = person.identifiers.find(({ type }) => type === "email")?.id ?? "";
    const updated = await update(propertyId, person.id, {
      identifiers: [identifier("email", "new@example.com", true), identifier("phone", "+15550100002")],
      removeIdentifierIds: [old, newId("idnt")],
      attributesJson: '{"a":[1],"b":1}',
      attributeOperations: [
        { op: AttributeOperator.APPEND_UNIQUE, path: ["a"], valueJson: "2" },
        { op: AttributeOperator.DELETE, path: ["b"] },
      ],
      location: { set: { city: "Bern" } },
    });
    expect(updated.version).toBe(person.version + 1n);
    expect(valuesOf(updated)).toEqual(["+15550100002", "new@example.com"]);
    expect(updated.identifiers.find(({ type }) => type === "email")).toMatchObject({ isPrimary: true, source: "test" });
    expect([updated.attributesJson, updated.location?.city]).toEqual(['{"a":[1,2]}', "Bern"]);
    const again = await update(propertyId, person.id, { identifiers: [identifier("email", "new@example.com")] });
    expect(again.version).toBe(updated.version);
  });

  test("an update is refused as a whole", async () => {
    const { propertyId } = await daybook().newProperty();
    const person = await make(propertyId, identifier("email", "a@example.com"));
    const other = await make(propertyId, identifier("email", "b@example.com"));
    const taken = { identifiers: [identifier("email", "b@example.com")], attributesJson: '{"a":1}' };
    expect(await refusal(update(propertyId, person.id, taken))).toMatchObject({
      code: "identity_conflict",
      message: expect.stringContaining(other.id),
    });
    const all = { removeIdentifierIds: person.identifiers.map(({ id }) => id), attributesJson: '{"a":1}' };
    expect(await refusal(update(propertyId, person.id, all))).toMatchObject({ code: "last_identifier" });
    const invalid = { identifiers: [identifier("phone", "5")], attributesJson: "[]" };
    expect(await refusal(update(propertyId, person.id, invalid))).toMatchObject({
      errors: [{ param: "identifiers.0.value" }, { param: "attributes" }],
    });
    const { profiles } = await daybook().clients.profiles.getProfiles(
      { propertyId, profileIds: [person.id, other.id] },
      testCall,
    );
    expect(profiles.map(({ attributesJson, version }) => [attributesJson, version])).toEqual([
      ["{}", 1n],
      ["{}", 1n],
    ]);
  });

  test("of many who want one identifier one gets it, and all keep what else they wrote", async () => {
    const { propertyId } = await daybook().newProperty();
    const people = await Promise.all(
      Array.from({ length: 12 }, (_, index) => make(propertyId, identifier("email", `p${index}@example.com`))),
    );
    const wanted = [identifier("external_id", "the one")];
    const outcomes = await Promise.all(
      people.flatMap(({ id }) => [
        refusal(update(propertyId, id, { identifiers: wanted })),
        refusal(update(propertyId, id, { attributesJson: '{"a":1}' })),
      ]),
    );
    expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(11);
    const { profiles } = await daybook().clients.profiles.getProfiles(
      { propertyId, profileIds: people.map(({ id }) => id) },
      testCall,
    );
    expect(profiles.filter(({ identifiers }) => identifiers.length === 2)).toHaveLength(1);
    expect(profiles.every(({ attributesJson }) => attributesJson === '{"a":1}')).toBe(true);
  });

  test("a long page is whole in every order", async () => {
    const { propertyId } = await daybook().newProperty();
    // Of each second one the primary email is not its first, and not in the order of the others.
    const emailsOf = (index: number) => {
      const [primary, other] = [`p${(index * 7) % 250}@example.com`, `a${index}@example.com`];
      return index % 2
        ? [identifier("email", other), identifier("email", primary, true)]
        : [identifier("email", primary)];
    };
    for (let from = 0; from < 250; from += 50) {
      const items = Array.from({ length: 50 }, (_, index) => ({ identifiers: emailsOf(from + index), source: "test" }));
      await daybook().clients.profiles.upsertProfiles({ propertyId, items }, testCall);
    }
    const emails = Array.from({ length: 250 }, (_, index) => `p${index}@example.com`).toSorted();
    for (const sort of [ProfileSort.EMAIL, ProfileSort.ID, ProfileSort.CREATED_AT, ProfileSort.UPDATED_AT]) {
      for (const ascending of [true, false]) {
        const page = await daybook().clients.profiles.listProfiles(
          { propertyId, sort, ascending, limit: 250 },
          testCall,
        );
        const found = page.profiles.map(
          ({ identifiers }) => identifiers.find(({ isPrimary }) => isPrimary) ?? identifiers[0],
        );
        const values = found.map((one) => one?.value ?? "");
        const inOrder = sort === ProfileSort.EMAIL ? values : values.toSorted();
        expect([page.hasMore, ascending || sort !== ProfileSort.EMAIL ? inOrder : inOrder.toReversed()]).toEqual([
          false,
          emails,
        ]);
      }
    }
  });

  test("lists are in order of id or email, in pages, and of those that were named", async () => {
    const { propertyId } = await daybook().newProperty();
    const emails = ["m@example.com", "c@example.com", "x@example.com", "a@example.com"];
    const people = await Promise.all(emails.map((value) => make(propertyId, identifier("email", value))));
    // Known by its primary email, and not by the others that it has.
    const many = await make(
      propertyId,
      identifier("email", "b@example.com"),
      identifier("email", "k@example.com", true),
      identifier("email", "z@example.com"),
    );
    const oldest = await make(propertyId, identifier("email", "d@example.com"), identifier("email", "0@example.com"));
    // Several, so that pages end within them and where they begin.
    const nameless = await make(propertyId, identifier("external_id", "1"));
    const others = await Promise.all(["2", "3"].map((value) => make(propertyId, identifier("external_id", value))));
    const all = [...people, many, oldest];
    const emailOf = ({ identifiers }: Profile): string | undefined => {
      const own = identifiers.filter(({ type }) => type === "email");
      return (own.find(({ isPrimary }) => isPrimary) ?? own[0])?.value;
    };
    const read = async (fields: List): Promise<Profile[]> => {
      const found: Profile[] = [];
      for (let after: List["after"], hasMore = true; hasMore;) {
        const request = { propertyId, limit: 2, ...fields, ...(after ? { after } : {}) } as List;
        const page = await daybook().clients.profiles.listProfiles(request, testCall);
        found.push(...page.profiles);
        ({ hasMore } = page);
        const last = page.profiles.at(-1);
        const shown = last && emailOf(last);
        after = last && { profileId: last.id, ...(shown === undefined ? {} : { email: shown }) };
      }
      return found;
    };
    const withoutEmail = [nameless, ...others].map(({ id }) => id).toSorted();
    const inOrder = [...all.map((profile) => emailOf(profile) ?? "").toSorted(), ...withoutEmail];
    const email = ProfileSort.EMAIL;
    for (const limit of [1, 2, 3, 4, 20]) {
      const named = (profile: Profile): string => emailOf(profile) ?? profile.id;
      expect((await read({ sort: email, ascending: true, limit })).map(named)).toEqual(inOrder);
      expect((await read({ sort: email, limit })).map(named)).toEqual(inOrder.toReversed());
    }
    const ids = [...all, nameless, ...others].map(({ id }) => id).toSorted();
    expect((await read({ sort: ProfileSort.ID, ascending: true })).map(({ id }) => id)).toEqual(ids);
    expect((await read({ sort: ProfileSort.ID })).map(({ id }) => id)).toEqual(ids.toReversed());

    const anyIdentifiers = [
      identifier("email", " Z@example.com "),
      identifier("email", "b@example.com"),
      identifier("email", "a@example.com"),
      identifier("external_id", "nobody's"),
    ];
    const some = await read({ sort: email, ascending: true, anyIdentifiers });
    expect(some.map(emailOf)).toEqual(["a@example.com", "k@example.com"]);
    const profileIds = [many.id, nameless.id, newId("prof")];
    expect((await read({ sort: ProfileSort.ID, profileIds })).map(({ id }) => id)).toEqual([nameless.id, many.id]);
    expect((await read({ profileIds, anyIdentifiers, sort: ProfileSort.ID })).map(({ id }) => id)).toEqual([many.id]);
    const both = await read({ profileIds: [nameless.id, many.id], sort: email });
    expect(both.map(({ id }) => id)).toEqual([nameless.id, many.id]);
    const tooMany = { anyIdentifiers: Array.from({ length: 501 }, (_, index) => identifier("email", `${index}@x.y`)) };
    expect(await refusal(read(tooMany))).toMatchObject({ code: "too_many_items", param: "any_identifiers" });
  });
});
