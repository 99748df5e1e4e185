/** Lists of what there is nothing of here: clients ask for them beside what there is, and are stopped by anything else than an empty list. */
import { calling } from "#shared/rpc/interceptors.ts";
import { callerOf, readOptions } from "../../plugins/request.ts";
import type { CompatContext } from "../context.ts";
import { findMetric } from "../find.ts";
import { toJobId } from "../job-ids.ts";
import { findProfile } from "../profiles.ts";
import type { QueryRules } from "../query.ts";
import { sendDocument } from "../reply.ts";
import { Reference } from "../resources.ts";
import type { Exchange, Router } from "../router.ts";

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
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export function emptyListRoutes(router: Router, context: CompatContext): void {
  const { clients } = context;

  for (const [name, query] of Object.entries(wholeLists)) {
    const list = {
      id: `compatList${pascalCase(name)}`,
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
      id: `compatList${pascalCase(name)}Of${pascalCase(of)}`,
      summary: `List the ${name} of ${of}`,
      description: "There are none.",
      query: { page, fields: [type] },
      data: Reference,
      list: true,
      success: { 200: "An empty list" },
    } as const;
    router.route("GET", `/${of}/:id/${name}`, scope, list, async (exchange) => {
      const { reply, links } = exchange;
      await checkOwner(exchange, of);
      return sendDocument(reply, 200, { data: [], links: links.page(undefined) });
    });
    const references = {
      ...list,
      id: `${list.id}Ids`,
      summary: `List the ids of the ${name} of ${of}`,
      query: { page },
    };
    router.route("GET", `/${of}/:id/relationships/${name}`, scope, references, async (exchange) => {
      const { reply, links, id } = exchange;
      await checkOwner(exchange, of);
      const whole = links.to(`/${of}/${id}/${name}`).self;
      return sendDocument(reply, 200, { data: [], links: { ...links.page(undefined), related: whole } });
    });
  }

  /** @throws DaybookError `resource_not_found` unless there is what the list would be of. */
  async function checkOwner(exchange: Exchange, of: (typeof related)[number]["of"]): Promise<void> {
    const { request, reply, id } = exchange;
    if (of === "profiles") await findProfile(context, request, id, "id");
    else if (of === "metrics") await findMetric(context, exchange);
    else {
      const asked = { propertyId: callerOf(request).propertyId, jobId: toJobId(id) };
      await calling(clients.profiles.getImportJob(asked, readOptions(request, reply)), () => "id");
    }
  }
}
