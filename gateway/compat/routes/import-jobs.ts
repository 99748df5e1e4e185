import { create } from "@bufbuild/protobuf";
import type { FastifyRequest } from "fastify";
import { ImportItemSchema, type ImportItem } from "#proto/daybook/profile/v1/profile_pb.ts";
import { isJsonObject } from "#shared/json/json.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import { givenId, readProfile } from "../bodies.ts";
import type { CompatContext } from "../context.ts";
import { importErrorResource, jobResource, originalJson, toStatuses } from "../convert/jobs.ts";
import { toUpdateRequest, toUpsertRequest } from "../convert/profile-requests.ts";
import { exampleImport } from "../examples.ts";
import { Faults } from "../faults.ts";
import { jobIdOf, noSuchJob, toJobId } from "../job-ids.ts";
import type { Links } from "../links.ts";
import { checkPatches, toProfileResources } from "../profiles.ts";
import { sendDocument, sendWritten, type Document } from "../reply.ts";
import { ImportError, ImportJob, Profile, Reference } from "../resources.ts";
import type { Exchange, Router } from "../router.ts";
import { ProfileImportJob } from "../schemas.ts";
import { pick } from "../sparse.ts";
import { createChecker } from "../validation.ts";

const profilesMax = 10_000;
const itemsPointer = "/data/attributes/profiles/data";
const fields = ["profile-bulk-import-job", "list"];
const page = { sizeDefault: 20, sizeMax: 100 };
// The other platform's; none here is ever cancelled.
const jobStatuses = ["queued", "processing", "complete", "cancelled"];
const body = createChecker(ProfileImportJob, "profile-bulk-import-job");

const createJob = {
  id: "compatCreateImportJob",
  summary: "Import 1 to 10,000 profiles",
  description:
    "Checked as a whole: one bad profile refuses all of them, and every bad one is named. They are written behind the answer, each as " +
    "/profile-import would. Lists are passed over.",
  query: { fields },
  body: ProfileImportJob,
  example: exampleImport,
  data: ImportJob,
  success: { 202: "The job" },
};

const list = {
  id: "compatListImportJobs",
  summary: "List import jobs",
  query: {
    filters: { status: ["any", "equals"] },
    filterValues: { status: jobStatuses },
    sorts: ["created_at"],
    sortDefault: "-created_at",
    page,
    fields,
  },
  data: ImportJob,
  list: true,
  success: { 200: "A page of jobs" },
} as const;

const read = {
  id: "compatGetImportJob",
  summary: "Read an import job",
  description: "It is forgotten 7 days after it was made.",
  query: { includes: ["lists"], fields },
  data: ImportJob,
  success: { 200: "The job" },
};

const profilesOf = {
  id: "compatListImportedProfiles",
  summary: "List the profiles that a job has written",
  query: { page, fields: ["profile"], additional: ["subscriptions", "predictive_analytics"] },
  data: Profile,
  list: true,
  success: { 200: "A page of profiles" },
} as const;

const profileIdsOf = {
  id: "compatListImportedProfileIds",
  summary: "List the ids of the profiles that a job has written",
  query: { page },
  data: Reference,
  list: true,
  success: { 200: "A page of ids" },
} as const;

const errorsOf = {
  id: "compatListImportErrors",
  summary: "List what a job could not write",
  query: { page, fields: ["import-error"] },
  data: ImportError,
  list: true,
  success: { 200: "A page of errors" },
} as const;

export function importJobRoutes(router: Router, context: CompatContext): void {
  const { clients } = context;
  const base = "/profile-bulk-import-jobs";
  const linkTo = (links: Links, id: string): { self: string } => links.to(`${base}/${id}`);

  router.route("POST", base, "profiles:write", createJob, async ({ request, reply, query, links }) => {
    const { propertyId } = callerOf(request);
    const items = await readItems(request, propertyId);
    const jobId = jobIdOf(request);
    const asked = clients.profiles.createImportJob({ propertyId, jobId, items }, callOptions(callOf(request)));
    const { job } = await calling(asked, () => itemsPointer);
    if (!job) throw new Error("the job was not returned");
    const self = linkTo(links, job.id);
    return sendWritten(reply, 202, { data: pick(jobResource(job, self), query), links: self });
  });

  router.route("GET", base, "profiles:read", list, async ({ request, reply, query, links }) => {
    const { propertyId } = callerOf(request);
    const names = query.conditions.map(({ values }) => values);
    const wanted = names.reduce((all, some) => all.filter((name) => some.includes(name)), names[0] ?? []);
    const statuses = toStatuses(wanted);
    // A state that no job has is not any state.
    if (names.length > 0 && statuses.length === 0)
      return sendDocument(reply, 200, { data: [], links: links.page(undefined) });
    const found = await calling(
      clients.profiles.listImportJobs(
        {
          propertyId,
          statuses,
          ascending: query.sort.ascending !== query.backwards,
          limit: query.size,
          afterJobId: query.after,
        },
        callOptions(callOf(request)),
      ),
    );
    const jobs = query.backwards ? found.jobs.toReversed() : found.jobs;
    const data = jobs.map((job) => pick(jobResource(job, linkTo(links, job.id)), query));
    const { next, prev } = query.pagesAround(jobs[0]?.id, jobs.at(-1)?.id, found.hasMore);
    return sendDocument(reply, 200, { data, links: links.page(next, prev) });
  });

  router.route("GET", `${base}/:id`, "profiles:read", read, async ({ request, reply, query, links, id }) => {
    const { propertyId } = callerOf(request);
    const asked = clients.profiles.getImportJob({ propertyId, jobId: toJobId(id) }, callOptions(callOf(request)));
    const { job } = await calling(asked, () => "id");
    if (!job) throw noSuchJob();
    const document: Document = { data: pick(jobResource(job, linkTo(links, job.id)), query), links: links.self() };
    return sendDocument(reply, 200, query.includes.size > 0 ? { ...document, included: [] } : document);
  });

  router.route("GET", `${base}/:id/profiles`, "profiles:read", profilesOf, async (exchange) => {
    const { request, reply, query, links } = exchange;
    const { profiles, cursor } = await listImported(exchange);
    const data = await toProfileResources(context, request, profiles, query, links);
    return sendDocument(reply, 200, { data, links: links.page(cursor) });
  });

  router.route("GET", `${base}/:id/relationships/profiles`, "profiles:read", profileIdsOf, async (exchange) => {
    const { reply, links, id } = exchange;
    const { profiles, cursor } = await listImported(exchange);
    const data = profiles.map((profile) => ({ type: "profile", id: profile.id }));
    const related = links.to(`${base}/${id}/profiles`).self;
    return sendDocument(reply, 200, { data, links: { ...links.page(cursor), related } });
  });

  async function listImported({ request, query, id }: Exchange) {
    const asked = {
      propertyId: callerOf(request).propertyId,
      jobId: toJobId(id),
      limit: query.size,
      afterProfileId: query.after,
    };
    const found = await calling(clients.profiles.listImportedProfiles(asked, callOptions(callOf(request))), () => "id");
    const last = found.lastProfileId;
    const cursor = found.hasMore && last !== undefined ? query.writeCursor(last) : undefined;
    return { profiles: found.profiles, cursor };
  }

  router.route(
    "GET",
    `${base}/:id/import-errors`,
    "profiles:read",
    errorsOf,
    async ({ request, reply, query, links, id }) => {
      const { propertyId } = callerOf(request);
      const asked = {
        propertyId,
        jobId: toJobId(id),
        limit: query.size,
        afterItem: query.after === undefined ? undefined : Number(query.after),
      };
      const found = await calling(clients.profiles.listImportErrors(asked, callOptions(callOf(request))), () => "id");
      const last = found.errors.at(-1);
      const showsValues = callerOf(request).scopes.has("identifiers:read_value");
      const data = found.errors.map((failure) => pick(importErrorResource(failure, showsValues), query));
      const cursor = found.hasMore && last ? query.writeCursor(String(last.item)) : undefined;
      return sendDocument(reply, 200, { data, links: links.page(cursor) });
    },
  );
}

async function readItems(request: FastifyRequest, propertyId: string): Promise<ImportItem[]> {
  const { data } = body.read(request.body).data.attributes.profiles;
  const faults = new Faults();
  if (data.length > profilesMax) {
    faults.add(itemsPointer, `There are at most ${profilesMax} profiles in one job.`, "too_many_items");
    faults.check();
  }
  const items: ImportItem[] = [];
  const pauses = new Steps();
  for (const [index, item] of data.entries()) {
    await pauses.next();
    faults.beginEntry();
    const pointer = `${itemsPointer}/${index}`;
    // As it was sent, before anything in it is read as something else.
    const original = originalJson(isJsonObject(item) ? item : {});
    const given = readProfile(item, faults, pointer);
    if (!given) continue;
    const { write } = given;
    checkPatches(request, [write]);
    const profileId = givenId(given);
    if (given.id !== undefined && profileId === undefined)
      faults.add(`${pointer}/id`, "This is not the id of a profile.");
    items.push(
      create(ImportItemSchema, {
        write:
          profileId === undefined
            ? { case: "upsert", value: toUpsertRequest(propertyId, write) }
            : { case: "update", value: toUpdateRequest(propertyId, profileId, write) },
        originalJson: original,
      }),
    );
  }
  faults.check();
  return items;
}
