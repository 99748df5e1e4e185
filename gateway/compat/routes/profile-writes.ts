import { ProfileStatus, type Profile as ProfileMessage } from "#proto/daybook/profile/v1/profile_pb.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { readProfile, type GivenProfile } from "../bodies.ts";
import { toId } from "../convert/ids.ts";
import { toCreateRequest, toPointer } from "../convert/profile-requests.ts";
import { readProfileWrite } from "../convert/profile-in.ts";
import { exampleMerge, exampleProfileUpdate, exampleProfileWrite } from "../examples.ts";
import type { CompatExchange } from "../exchange.ts";
import { Faults } from "../faults.ts";
import { checkPatches, replaceInProfile, noSuchProfile, toWrittenProfile, upsertProfile } from "../profiles.ts";
import { answerDocument, type Document, type Resource } from "../reply.ts";
import { MergedProfile, Profile } from "../resources.ts";
import { operation, route } from "../operation.ts";
import { ProfileCreate, ProfileImport, ProfileMerge, ProfileUpdate } from "../schemas.ts";
import { createChecker } from "../validation.ts";

const pointers = { id: "/data/id", attributes: "/data/attributes" };
const createBody = createChecker(ProfileCreate, "profile");
const importBody = createChecker(ProfileImport, "profile");

const query = { fields: ["profile"], additional: ["subscriptions", "predictive_analytics"] };

const create = operation("profiles:write", {
  id: "compatCreateProfile",
  summary: "Create a profile",
  description: "An identifier that somebody has is refused with 409 `duplicate_profile`, whose meta names the profile.",
  query,
  body: { schema: ProfileCreate, read: (value) => readGood({ ...createBody.read(value).data, id: null, meta: null }) },
  example: exampleProfileWrite,
  data: Profile,
  success: { 201: "The profile made" },
});

const upsert = operation("profiles:write", {
  id: "compatImportProfile",
  summary: "Create or update a profile",
  description:
    "Writes to the profile of `id`, or to the one that has the identifiers. Fields left out stay, null clears, " +
    "properties merge by key, and `meta.patch_properties` appends, unappends and unsets. Identifiers are added: null " +
    "takes none away. To replace one, by `id`, and for `meta.patch_identifiers` the scope `identifiers:write` is " +
    "needed too.",
  query,
  body: { schema: ProfileImport, read: (value) => readGood(importBody.read(value).data) },
  example: exampleProfileWrite,
  data: Profile,
  success: { 200: "The profile updated", 201: "The profile made" },
});

const update = operation("profiles:write", {
  id: "compatUpdateProfile",
  summary: "Update a profile",
  description:
    "As the import does; but a new email, phone_number or external_id takes the place of the old one, and null takes " +
    "it away. Whatever changes identifiers needs the scope `identifiers:write` too.",
  query,
  body: createChecker(ProfileUpdate, "profile"),
  example: exampleProfileUpdate,
  data: Profile,
  success: { 200: "The profile updated" },
});

const merge = operation("profiles:merge", {
  id: "compatMergeProfiles",
  summary: "Merge profiles into one",
  description: "For good. What the destination lacks comes from the sources.",
  query: { fields: ["profile"] },
  body: createChecker(ProfileMerge, "profile-merge"),
  example: exampleMerge,
  data: MergedProfile,
  success: { 201: "They are one" },
});

export const profileWriteRoutes = [
  route("POST", "/profiles", create, async (exchange) => {
    const { request, propertyId, services, body } = exchange;
    const { write } = body;
    const { profile } = await services.profiles.createProfile(
      { ...toCreateRequest(propertyId, write), ...operationOf(request) },
      toPointer(write, pointers.attributes),
    );
    return answerProfile(exchange, 201, profile);
  }),

  route("POST", "/profile-import", upsert, async (exchange) => {
    const { id, write } = exchange.body;
    if (id === undefined) {
      checkPatches(exchange.caller, [write]);
      const { profile, created } = await upsertProfile(exchange, write, { pointers, preferFirst: false });
      return answerProfile(exchange, created ? 201 : 200, profile);
    }
    const kept = { ...write, cleared: new Set<never>() };
    const profile = await replaceInProfile(exchange, id, kept, { pointers, param: pointers.id, mayAdd: true });
    return answerProfile(exchange, 200, profile);
  }),

  route("PATCH", "/profiles/:id", update, async (exchange) => {
    const { id, body } = exchange;
    const { data } = body;
    const faults = new Faults();
    if (data.id?.trim() && toId("prof", data.id) !== toId("prof", id)) {
      faults.add(pointers.id, "This is not the id in the path.", "parameter_conflict");
    }
    const write = readProfileWrite({ attributes: data.attributes ?? {}, meta: data.meta }, faults, {
      pointer: pointers.attributes,
      metaPointer: "/data/meta",
    });
    faults.check();
    const profile = await replaceInProfile(exchange, id, write, { pointers, param: "id", mayAdd: false });
    return answerProfile(exchange, 200, profile);
  }),

  route("POST", "/profile-merge", merge, async (exchange) => {
    const { request, reply, propertyId, services, links, body } = exchange;
    const { id, relationships } = body.data;
    const destination = toId("prof", id);
    if (destination === undefined) throw noSuchProfile(id, pointers.id);
    const sources = relationships.profiles.data.map((source, index) => {
      const sourceId = toId("prof", source.id);
      if (sourceId === undefined) throw noSuchProfile(source.id, sourcePointer(index));
      return sourceId;
    });
    // An earlier attempt checked them, and may have merged some.
    if ((request.operation?.attempt ?? 1) === 1) await checkMerge(exchange, destination, sources);
    let survivor = destination;
    for (const [index, sourceProfileId] of sources.entries()) {
      const { profile } = await services.profiles.mergeProfiles(
        { propertyId, profileId: survivor, sourceProfileId, ...operationOf(request, index) },
        (param) => (param === "profile_id" ? pointers.id : sourcePointer(index)),
      );
      survivor = profile?.id ?? survivor;
      request.isUnfinished = true;
    }
    request.isUnfinished = false;
    const data = { type: "profile", id: survivor, links: links.to(`/profiles/${survivor}`) };
    return answerDocument(reply, 201, { data, links: links.self() });
  }),
];

function sourcePointer(index: number): string {
  return `/data/relationships/profiles/data/${index}/id`;
}

/** Checks all merges before the first one, because a merge is irreversible. */
async function checkMerge(exchange: CompatExchange, destination: string, sources: readonly string[]): Promise<void> {
  const faults = new Faults();
  const refuse = (pointer: string, message: string): void => faults.add(pointer, message, "invalid_state_transition");
  const [survivor, ...found] = await Promise.all([destination, ...sources].map((id) => exchange.readProfile(id)));
  if (!survivor) throw noSuchProfile(destination, pointers.id);
  if (survivor.status === ProfileStatus.MERGED) refuse(pointers.id, "The destination is merged already.");
  if (survivor.status === ProfileStatus.REDACTED) refuse(pointers.id, "The destination is redacted.");
  for (const [index, source] of found.entries()) {
    const pointer = sourcePointer(index);
    if (!source) throw noSuchProfile(sources[index] ?? "", pointer);
    if (source.id === survivor.id) refuse(pointer, "A profile is not merged into itself.");
    else if (source.status === ProfileStatus.MERGED) refuse(pointer, "The source is merged already.");
    else if (source.status === ProfileStatus.REDACTED) refuse(pointer, "The source is redacted.");
    else if (sources.indexOf(source.id) < index) refuse(pointer, "This profile stands here twice.");
  }
  faults.check();
}

async function answerProfile(
  exchange: CompatExchange,
  status: number,
  profile: ProfileMessage | undefined,
): Promise<Buffer> {
  if (!profile) throw new Error("the profile was not returned");
  const { request, reply, links } = exchange;
  const { own, other } = await toWrittenProfile(exchange, profile);
  const documentOf = (data: Resource): Document => ({ data, links: links.to(`/profiles/${profile.id}`) });
  request.otherBody = JSON.stringify(documentOf(other));
  return answerDocument(reply, status, documentOf(own));
}

function readGood(data: unknown): GivenProfile {
  const faults = new Faults();
  const given = readProfile(data, faults, "/data");
  faults.check();
  if (!given) throw new Error("what cannot be read is at fault");
  return given;
}
