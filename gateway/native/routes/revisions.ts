import { revisions, type Revision as RevisionName } from "#shared/values/revisions.ts";
import { answerData } from "../envelope.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { Revision } from "../resources.ts";
import { changes as first } from "../revisions/2026-05-01.ts";
import { changes as second } from "../revisions/2026-11-01.ts";

const changesOf: Record<RevisionName, readonly string[]> = { "2026-05-01": first, "2026-11-01": second };

const list = operation(null, {
  id: "listRevisions",
  tag: "Account",
  summary: "List the revisions of this API, newest first",
  description:
    "A key is pinned to a revision; Service-Version asks for another, for one request. Each says what changed with it.",
  query: { paged: true },
  data: Revision,
  list: true,
  success: { 200: "A page of revisions" },
  examples: { data: [{ object: "revision", revision: "2026-05-01", changes: first }] },
});

export const revisionRoutes = [
  route("GET", "/revisions", list, (exchange) => {
    const page = openPage(exchange, "revisions");
    const { after } = page;
    const remaining = revisions.toReversed().filter((revision) => after === undefined || revision < after);
    const shown = remaining.slice(0, exchange.query.limit);
    const data = shown.map((revision) => ({ object: "revision", revision, changes: changesOf[revision] }));
    return answerData(exchange, JSON.stringify(data), page.meta(remaining.length > shown.length, shown.at(-1)));
  }),
];
