/** Empty lists of resources that Daybook does not have. Clients request them beside others and fail on errors. */
import type { CompatExchange } from "../exchange.ts";
import { findMetric } from "../find.ts";
import { toJobId } from "../job-ids.ts";
import { findProfile } from "../profiles.ts";
import type { QueryRules } from "../query.ts";
import { answerDocument, nothingIncluded } from "../reply.ts";
import { Reference } from "../resources.ts";
import { operation, route, type CompatRoute } from "../operation.ts";

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

/** Related collections; `name` is the last segment of the path. */
const related = [
  { of: "profiles", scope: "profiles:read", name: "lists", type: "list" },
  { of: "profiles", scope: "profiles:read", name: "segments", type: "segment" },
  { of: "profiles", scope: "profiles:read", name: "push-tokens", type: "push-token" },
  { of: "profile-bulk-import-jobs", scope: "profiles:read", name: "lists", type: "list" },
  { of: "metrics", scope: "metrics:read", name: "flow-triggers", type: "flow" },
] as const;

/** `profile-bulk-import-jobs` becomes `ProfileBulkImportJobs`. */
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export const emptyListRoutes = [
  ...Object.entries(wholeLists).map(([name, query]) => wholeList(name, query)),
  ...related.flatMap(relatedLists),
];

function wholeList(name: string, query: QueryRules): CompatRoute {
  const list = operation("profiles:read", {
    id: `compatList${pascalCase(name)}`,
    summary: `List ${name}`,
    description: `There are no ${name}.`,
    query,
    data: Reference,
    list: true,
    success: { 200: "An empty page" },
  });
  return route("GET", `/${name}`, list, ({ reply, query: asked, links }) =>
    answerDocument(reply, 200, { data: [], ...nothingIncluded(asked), links: links.page(undefined) }),
  );
}

function relatedLists({ of, scope, name, type }: (typeof related)[number]): CompatRoute[] {
  const id = `compatList${pascalCase(name)}Of${pascalCase(of)}`;
  const common = {
    description: "There are none.",
    data: Reference,
    list: true,
    success: { 200: "An empty list" },
  } as const;
  const list = operation(scope, {
    ...common,
    id,
    summary: `List the ${name} of ${of}`,
    query: { page, fields: [type] },
  });
  const references = operation(scope, {
    ...common,
    id: `${id}Ids`,
    summary: `List the ids of the ${name} of ${of}`,
    query: { page },
  });
  return [
    route("GET", `/${of}/:id/${name}`, list, async (exchange) => {
      await checkOwner(exchange, of);
      return answerDocument(exchange.reply, 200, { data: [], links: exchange.links.page(undefined) });
    }),
    route("GET", `/${of}/:id/relationships/${name}`, references, async (exchange) => {
      const { reply, links } = exchange;
      await checkOwner(exchange, of);
      const whole = links.to(`/${of}/${exchange.id}/${name}`).self;
      return answerDocument(reply, 200, { data: [], links: { ...links.page(undefined), related: whole } });
    }),
  ];
}

/** @throws DaybookError `resource_not_found` if the owner of the list does not exist. */
async function checkOwner(exchange: CompatExchange, of: (typeof related)[number]["of"]): Promise<void> {
  const { propertyId, services, id } = exchange;
  if (of === "profiles") await findProfile(exchange, id, "id");
  else if (of === "metrics") await findMetric(exchange);
  else await services.profiles.getImportJob({ propertyId, jobId: toJobId(id) }, () => "id");
}
