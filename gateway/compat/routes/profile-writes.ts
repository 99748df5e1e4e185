import type { FastifyReply, FastifyRequest } from "fastify";
import { ProfileStatus, type Profile as ProfileMessage } from "#proto/daybook/profile/v1/profile_pb.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import { readProfile, type GivenProfile } from "../bodies.ts";
import type { CompatContext } from "../context.ts";
import { toId } from "../convert/ids.ts";
import { toCreateRequest, toPointer } from "../convert/profile-requests.ts";
import { readProfileWrite } from "../convert/profile-in.ts";
import { exampleMerge, exampleProfileUpdate, exampleProfileWrite } from "../examples.ts";
import { Faults } from "../faults.ts";
import type { Links } from "../links.ts";
import { checkPatches, replaceInProfile, noSuchProfile, toWrittenProfile, upsertProfile } from "../profiles.ts";
import type { Query } from "../query.ts";
import { sendWritten, type Document, type Resource } from "../reply.ts";
import { MergedProfile, Profile } from "../resources.ts";
import type { Router } from "../router.ts";
import { ProfileCreate, ProfileImport, ProfileMerge, ProfileUpdate } from "../schemas.ts";
import { createChecker } from "../validation.ts";

const createBody = createChecker(ProfileCreate, "profile");
const importBody = createChecker(ProfileImport, "profile");
const updateBody = createChecker(ProfileUpdate, "profile");
const mergeBody = createChecker(ProfileMerge, "profile-merge");

const query = { fields: ["profile"], additional: ["subscriptions", "predictive_analytics"] };

const create = {
  id: "compatCreateProfile",
  summary: "Create a profile",
  description: "An identifier that somebody has is refused with 409 `duplicate_profile`, whose meta names the profile.",
  query,
  body: ProfileCreate,
  example: exampleProfileWrite,
  data: Profile,
  success: { 201: "The profile made" },
};

const upsert = {
  id: "compatImportProfile",
  summary: "Create or update a profile",
  description:
    "Writes to the profile of `id`, or to the one that has the identifiers. Fields left out stay, null clears, properties merge by key, and " +
    "`meta.patch_properties` appends, unappends and unsets. Identifiers are added: null takes none away. To replace one, by `id`, and for " +
    "`meta.patch_identifiers` the scope `identifiers:write` is needed too.",
  query,
  body: ProfileImport,
  example: exampleProfileWrite,
  data: Profile,
  success: { 200: "The profile updated", 201: "The profile made" },
};

const update = {
  id: "compatUpdateProfile",
  summary: "Update a profile",
  description:
    "As the import does; but a new email, phone_number or external_id takes the place of the old one, and null takes it away. Whatever changes " +
    "identifiers needs the scope `identifiers:write` too.",
  query,
  body: ProfileUpdate,
  example: exampleProfileUpdate,
  data: Profile,
  success: { 200: "The profile updated" },
};

const merge = {
  id: "compatMergeProfiles",
  summary: "Merge profiles into one",
  description: "For good. What the destination lacks comes from the sources.",
  query: { fields: ["profile"] },
  body: ProfileMerge,
  example: exampleMerge,
  data: MergedProfile,
  success: { 201: "They are one" },
};

const pointers = { id: "/data/id", attributes: "/data/attributes" };

export function profileWriteRoutes(router: Router, context: CompatContext): void {
  const { clients } = context;

  router.route("POST", "/profiles", "profiles:write", create, async ({ request, reply, query: asked, links }) => {
    const { data } = createBody.read(request.body);
    const given = readGood({ ...data, id: null, meta: null });
    const { write } = given;
    const { propertyId } = callerOf(request);
    const made = clients.profiles.createProfile(
      { ...toCreateRequest(propertyId, write), ...operationOf(request) },
      callOptions(callOf(request)),
    );
    const { profile } = await calling(made, toPointer(write, pointers.attributes));
    return sendProfile(request, reply, 201, { profile, asked, links });
  });

  router.route("POST", "/profile-import", "profiles:write", upsert, async ({ request, reply, query: asked, links }) => {
    const given = readGood(importBody.read(request.body).data);
    const { id, write } = given;
    if (id === undefined) {
      checkPatches(request, [write]);
      const { profile, created } = await upsertProfile(context, request, write, { pointers, preferFirst: false });
      return sendProfile(request, reply, created ? 201 : 200, { profile, asked, links });
    }
    const kept = { ...write, cleared: new Set<never>() };
    const profile = await replaceInProfile(context, request, id, kept, { pointers, param: pointers.id, mayAdd: true });
    return sendProfile(request, reply, 200, { profile, asked, links });
  });

  router.route(
    "PATCH",
    "/profiles/:id",
    "profiles:write",
    update,
    async ({ request, reply, query: asked, links, id }) => {
      const { data } = updateBody.read(request.body);
      const faults = new Faults();
      if (data.id?.trim() && toId("prof", data.id) !== toId("prof", id)) {
        faults.add(pointers.id, "This is not the id in the path.", "parameter_conflict");
      }
      const write = readProfileWrite({ attributes: data.attributes ?? {}, meta: data.meta }, faults, {
        pointer: pointers.attributes,
        metaPointer: "/data/meta",
      });
      faults.check();
      const profile = await replaceInProfile(context, request, id, write, { pointers, param: "id", mayAdd: false });
      return sendProfile(request, reply, 200, { profile, asked, links });
    },
  );

  router.route("POST", "/profile-merge", "profiles:merge", merge, async ({ request, reply, links }) => {
    const { id, relationships } = mergeBody.read(request.body).data;
    const { propertyId } = callerOf(request);
    const destination = toId("prof", id);
    if (destination === undefined) throw noSuchProfile(id, pointers.id);
    const place = (index: number): string => `/data/relationships/profiles/data/${index}/id`;
    const sources = relationships.profiles.data.map((source, index) => {
      const sourceId = toId("prof", source.id);
      if (sourceId === undefined) throw noSuchProfile(source.id, place(index));
      return sourceId;
    });
    // An attempt before this one had them checked, and may have merged some.
    if ((request.operation?.attempt ?? 1) === 1) await checkMerge(request, destination, sources, place);
    let survivor = destination;
    for (const [index, sourceProfileId] of sources.entries()) {
      const merged = clients.profiles.mergeProfiles(
        { propertyId, profileId: survivor, sourceProfileId, ...operationOf(request, index) },
        callOptions(callOf(request)),
      );
      const { profile } = await calling(merged, (param) => (param === "profile_id" ? pointers.id : place(index)));
      survivor = profile?.id ?? survivor;
      request.isUnfinished = true;
    }
    request.isUnfinished = false;
    const data = { type: "profile", id: survivor, links: links.to(`/profiles/${survivor}`) };
    return sendWritten(reply, 201, { data, links: links.self() });
  });

  /** Refuses what cannot be merged, before anything is: a merge is for good. */
  async function checkMerge(
    request: FastifyRequest,
    destination: string,
    sources: readonly string[],
    place: (index: number) => string,
  ): Promise<void> {
    const faults = new Faults();
    const refuse = (pointer: string, message: string): void => faults.add(pointer, message, "invalid_state_transition");
    const { propertyId } = callerOf(request);
    const [survivor, ...found] = await Promise.all(
      [destination, ...sources].map((id) => context.profiles.readOne(propertyId, id, callOf(request))),
    );
    if (!survivor) throw noSuchProfile(destination, pointers.id);
    if (survivor.status === ProfileStatus.MERGED) refuse(pointers.id, "The destination is merged already.");
    if (survivor.status === ProfileStatus.REDACTED) refuse(pointers.id, "The destination is redacted.");
    for (const [index, source] of found.entries()) {
      const pointer = place(index);
      if (!source) throw noSuchProfile(sources[index] ?? "", pointer);
      if (source.id === survivor.id) refuse(pointer, "A profile is not merged into itself.");
      else if (source.status === ProfileStatus.MERGED) refuse(pointer, "The source is merged already.");
      else if (source.status === ProfileStatus.REDACTED) refuse(pointer, "The source is redacted.");
      else if (sources.indexOf(source.id) < index) refuse(pointer, "This profile stands here twice.");
    }
    faults.check();
  }

  async function sendProfile(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    { profile, asked, links }: { profile: ProfileMessage | undefined; asked: Query; links: Links },
  ): Promise<FastifyReply> {
    if (!profile) throw new Error("the profile was not returned");
    const { own, other } = await toWrittenProfile(context, request, profile, asked, links);
    const documentOf = (data: Resource): Document => ({ data, links: links.to(`/profiles/${profile.id}`) });
    request.otherBody = JSON.stringify(documentOf(other));
    return sendWritten(reply, status, documentOf(own));
  }
}

function readGood(data: unknown): GivenProfile {
  const faults = new Faults();
  const given = readProfile(data, faults, "/data");
  faults.check();
  if (!given) throw new Error("what cannot be read is at fault");
  return given;
}
