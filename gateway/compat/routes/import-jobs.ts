import { create } from "@bufbuild/protobuf";
import { ImportItemSchema, type ImportItem } from "#proto/daybook/profile/v1/profile_pb.ts";
import { isJsonObject } from "#shared/json/json.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { givenId, readProfile } from "../bodies.ts";
import { jobOriginOf } from "../../rejections/operation-name.ts";
import { importErrorResource, jobResource, originalJson, toStatuses } from "../convert/jobs.ts";
import { toUpdateRequest, toUpsertRequest } from "../convert/profile-requests.ts";
import { exampleImport } from "../examples.ts";
import type { CompatExchange } from "../exchange.ts";
import { Faults } from "../faults.ts";
import { jobIdOf, noSuchJob, toJobId } from "../job-ids.ts";
import type { Links } from "../links.ts";
import { checkPatches, toProfileResources } from "../profiles.ts";
import { answerDocument, nothingIncluded } from "../reply.ts";
import { ImportError, ImportJob, Profile, Reference } from "../resources.ts";
import { operation, route, type BodySetting } from "../operation.ts";
import { ProfileImportJob } from "../schemas.ts";
import { pick } from "../sparse.ts";
import { createChecker } from "../validation.ts";

const profilesMax = 10_000;
const itemsPointer = "/data/attributes/profiles/data";
const fields = ["profile-bulk-import-job", "list"];
const page = { sizeDefault: 20, sizeMax: 100 };
// Statuses of the other platform. Jobs here are never cancelled.
const jobStatuses = ["queued", "processing", "complete", "cancelled"];
const jobBody = createChecker(ProfileImportJob, "profile-bulk-import-job");

const createJob = operation("profiles:write", {
  id: "compatCreateImportJob",
  summary: "Import 1 to 10,000 profiles",
  description:
    "Checked as a whole: one bad profile refuses all of them, and every bad one is named. They are written behind " +
    "the answer, each as /profile-import would. Lists are passed over.",
  query: { fields },
  body: { schema: ProfileImportJob, read: readItems },
  example: exampleImport,
  data: ImportJob,
  success: { 202: "The job" },
});

const list = operation("profiles:read", {
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
});

const read = operation("profiles:read", {
  id: "compatGetImportJob",
  summary: "Read an import job",
  description: "It is forgotten 7 days after it was made.",
  query: { includes: ["lists"], fields },
  data: ImportJob,
  success: { 200: "The job" },
});

const profilesOf = operation("profiles:read", {
  id: "compatListImportedProfiles",
  summary: "List the profiles that a job has written",
  query: { page, fields: ["profile"], additional: ["subscriptions", "predictive_analytics"] },
  data: Profile,
  list: true,
  success: { 200: "A page of profiles" },
});

const profileIdsOf = operation("profiles:read", {
  id: "compatListImportedProfileIds",
  summary: "List the ids of the profiles that a job has written",
  query: { page },
  data: Reference,
  list: true,
  success: { 200: "A page of ids" },
});

const errorsOf = operation("profiles:read", {
  id: "compatListImportErrors",
  summary: "List what a job could not write",
  query: { page, fields: ["import-error"] },
  data: ImportError,
  list: true,
  success: { 200: "A page of errors" },
});

const base = "/profile-bulk-import-jobs";

export const importJobRoutes = [
  route("POST", base, createJob, async ({ request, reply, propertyId, services, query, links, body: items }) => {
    const wanted = { propertyId, jobId: jobIdOf(request), items, origin: jobOriginOf(request) };
    const { job } = await services.profiles.createImportJob(wanted, () => itemsPointer);
    if (!job) throw new Error("the job was not returned");
    const self = linkTo(links, job.id);
    return answerDocument(reply, 202, { data: pick(jobResource(job, self), query), links: self });
  }),

  route("GET", base, list, async ({ reply, propertyId, services, query, links }) => {
    const names = query.conditions.map(({ values }) => values);
    const wanted = names.reduce((all, some) => all.filter((name) => some.includes(name)), names[0] ?? []);
    const statuses = toStatuses(wanted);
    // The service reads an empty list as any status.
    if (names.length > 0 && statuses.length === 0)
      return answerDocument(reply, 200, { data: [], links: links.page(undefined) });
    const found = await services.profiles.listImportJobs({
      propertyId,
      statuses,
      ascending: query.sort.ascending !== query.backwards,
      limit: query.size,
      afterJobId: query.after,
    });
    const jobs = query.backwards ? found.jobs.toReversed() : found.jobs;
    const data = jobs.map((job) => pick(jobResource(job, linkTo(links, job.id)), query));
    const { next, prev } = query.pagesAround(jobs[0]?.id, jobs.at(-1)?.id, found.hasMore);
    return answerDocument(reply, 200, { data, links: links.page(next, prev) });
  }),

  route("GET", `${base}/:id`, read, async ({ reply, propertyId, services, query, links, id }) => {
    const { job } = await services.profiles.getImportJob({ propertyId, jobId: toJobId(id) }, () => "id");
    if (!job) throw noSuchJob();
    const data = pick(jobResource(job, linkTo(links, job.id)), query);
    return answerDocument(reply, 200, { data, links: links.self(), ...nothingIncluded(query) });
  }),

  route("GET", `${base}/:id/profiles`, profilesOf, async (exchange) => {
    const { profiles, cursor } = await listImported(exchange);
    const data = await toProfileResources(exchange, profiles);
    return answerDocument(exchange.reply, 200, { data, links: exchange.links.page(cursor) });
  }),

  route("GET", `${base}/:id/relationships/profiles`, profileIdsOf, async (exchange) => {
    const { reply, links, id } = exchange;
    const { profiles, cursor } = await listImported(exchange);
    const data = profiles.map((profile) => ({ type: "profile", id: profile.id }));
    const related = links.to(`${base}/${id}/profiles`).self;
    return answerDocument(reply, 200, { data, links: { ...links.page(cursor), related } });
  }),

  route("GET", `${base}/:id/import-errors`, errorsOf, async (exchange) => {
    const { reply, propertyId, services, query, links, id, showsValues } = exchange;
    const found = await services.profiles.listImportErrors(
      {
        propertyId,
        jobId: toJobId(id),
        limit: query.size,
        afterItem: query.after === undefined ? undefined : Number(query.after),
      },
      () => "id",
    );
    const last = found.errors.at(-1);
    const data = found.errors.map((failure) => pick(importErrorResource(failure, showsValues), query));
    const cursor = found.hasMore && last ? query.writeCursor(String(last.item)) : undefined;
    return answerDocument(reply, 200, { data, links: links.page(cursor) });
  }),
];

function linkTo(links: Links, id: string): { self: string } {
  return links.to(`${base}/${id}`);
}

async function listImported({ propertyId, services, query, id }: CompatExchange) {
  const found = await services.profiles.listImportedProfiles(
    { propertyId, jobId: toJobId(id), limit: query.size, afterProfileId: query.after },
    () => "id",
  );
  const last = found.lastProfileId;
  const cursor = found.hasMore && last !== undefined ? query.writeCursor(last) : undefined;
  return { profiles: found.profiles, cursor };
}

async function readItems(value: unknown, { caller }: BodySetting): Promise<ImportItem[]> {
  const { propertyId } = caller;
  const { data } = jobBody.read(value).data.attributes.profiles;
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
    // Copied before coercion changes the item in place.
    const original = originalJson(isJsonObject(item) ? item : {});
    const given = readProfile(item, faults, pointer);
    if (!given) continue;
    const { write } = given;
    checkPatches(caller, [write]);
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
