/** Lists of what there is nothing of here: clients ask for them beside what there is, and are stopped by anything else than an empty list. */
import type { FastifyRequest } from "fastify";
import { DaybookError } from "#shared/errors.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { CompatContext } from "../context.ts";
import { toId } from "../convert/ids.ts";
import { toJobId } from "../job-ids.ts";
import { findProfile } from "../profiles.ts";
import type { QueryRules } from "../query.ts";
import { sendDocument } from "../reply.ts";
import { Reference } from "../resources.ts";
import type { Router } from "../router.ts";

const isOf = ["any", "equals"];
const since = ["greater-than"];
const page = { sizeDefault: 10, sizeMax: 100 };
const sorts = ["created", "id", "name", "updated"];

const wholeLists: Readonly<Record<string, QueryRules>> = {
  lists: {
    filters: { id: isOf, name: isOf, created: since, updated: since },
    sorts,
    sortDefault: "-created",
    page,
    includes: ["tags", "flow-triggers"],
    fields: ["list", "tag", "flow"],
  },
  segments: {
    filters: { id: isOf, name: isOf, created: since, updated: since, is_active: isOf, is_starred: ["equals"] },
    sorts,
    sortDefault: "-created",
    page,
    includes: ["tags", "flow-triggers"],
    fields: ["segment", "tag", "flow"],
  },
};

/** What resources are related to, as the last segment of a path. */
const related = [
  { of: "profiles", scope: "profiles:read", name: "lists", type: "list" },
  { of: "profiles", scope: "profiles:read", name: "segments", type: "segment" },
  { of: "profiles", scope: "profiles:read", name: "push-tokens", type: "push-token" },
  { of: "profile-bulk-import-jobs", scope: "profiles:read", name: "lists", type: "list" },
  { of: "metrics", scope: "metrics:read", name: "flow-triggers", type: "flow" },
] as const;

/** `profile-bulk-import-jobs` as `ProfileBulkImportJobs`. */
function camelCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export function emptyListRoutes(router: Router, context: CompatContext): void {
  const { clients } = context;

  for (const [name, query] of Object.entries(wholeLists)) {
    const list = {
      id: `compatList${camelCase(name)}`,
      summary: `List ${name}`,
      description: `There are no ${name}.`,
      query,
      data: Reference,
      list: true,
      success: { 200: "An empty page" },
    } as const;
    router.route("GET", `/${name}`, "profiles:read", list, async ({ reply, query: asked, links }) => {
      const included = asked.includes.size > 0 ? { included: [] } : {};
      return sendDocument(reply, 200, { data: [], ...included, links: links.page(undefined) });
    });
  }

  for (const { of, scope, name, type } of related) {
    const list = {
      id: `compatList${camelCase(name)}Of${camelCase(of)}`,
      summary: `List the ${name} of ${of}`,
      description: "There are none.",
      query: { page, fields: [type] },
      data: Reference,
      list: true,
      success: { 200: "An empty list" },
    } as const;
    router.route("GET", `/${of}/:id/${name}`, scope, list, async ({ request, reply, links, id }) => {
      await checkOwner(request, of, id);
      return sendDocument(reply, 200, { data: [], links: links.page(undefined) });
    });
    const references = {
      ...list,
      id: `${list.id}Ids`,
      summary: `List the ids of the ${name} of ${of}`,
      query: { page },
    };
    router.route("GET", `/${of}/:id/relationships/${name}`, scope, references, async (exchange) => {
      const { request, reply, links, id } = exchange;
      await checkOwner(request, of, id);
      const whole = links.to(`/${of}/${id}/${name}`).self;
      return sendDocument(reply, 200, { data: [], links: { ...links.page(undefined), related: whole } });
    });
  }

  /** @throws DaybookError `resource_not_found` unless there is what the list would be of. */
  async function checkOwner(request: FastifyRequest, of: (typeof related)[number]["of"], id: string): Promise<void> {
    const { propertyId } = callerOf(request);
    const options = callOptions(callOf(request));
    if (of === "profiles") await findProfile(context, request, id, "id");
    else if (of === "metrics") {
      const metricId = toId("mtr", id);
      const found =
        metricId && (await calling(clients.metrics.getMetrics({ propertyId, metricIds: [metricId] }, options)));
      if (!found || found.metrics.length === 0) {
        throw new DaybookError("resource_not_found", "A metric with this id does not exist.", { param: "id" });
      }
    } else await calling(clients.profiles.getImportJob({ propertyId, jobId: toJobId(id) }, options), () => "id");
  }
}
