import { suppressionJson } from "#shared/wire/privacy.ts";
import { answerData } from "../envelope.ts";
import { exampleIds } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { exampleSuppression } from "../privacy-examples.ts";
import { DeletedSuppression, Suppression } from "../privacy-resources.ts";

const list = operation("privacy:read", {
  id: "listSuppressions",
  tag: "Privacy",
  summary: "List suppressions, oldest first",
  description:
    "Identifiers that erasures keep out. Their values are kept nowhere: a suppression holds a digest, which only " +
    "Daybook can compare.",
  query: { paged: true },
  data: Suppression,
  list: true,
  success: { 200: "A page of suppressions" },
  examples: { query: { "page[limit]": "10" }, data: [exampleSuppression] },
});

const remove = operation("privacy:delete", {
  id: "removeSuppression",
  tag: "Privacy",
  summary: "Let an identifier be written again",
  description: "For a person who comes back by her own will.",
  data: DeletedSuppression,
  success: { 200: "It is gone" },
  errors: ["invalid_id", "resource_not_found"],
  examples: { data: { id: exampleIds.suppression, object: "suppression", deleted: true } },
});

export const suppressionRoutes = [
  route("GET", "/suppressions", list, async (exchange) => {
    const { query, propertyId, services } = exchange;
    const page = openPage(exchange, "suppressions");
    const { suppressions, hasMore } = await services.privacy.listSuppressions({
      propertyId,
      limit: query.limit,
      afterSuppressionId: page.after,
    });
    const meta = page.meta(hasMore, suppressions.at(-1)?.id);
    return answerData(exchange, `[${suppressions.map(suppressionJson).join(",")}]`, meta);
  }),

  route("DELETE", "/suppressions/:id", remove, async (exchange) => {
    const { ids, propertyId, services } = exchange;
    await services.privacy.deleteSuppression({ propertyId, suppressionId: ids.id }, () => "id");
    return answerData(exchange, JSON.stringify({ id: ids.id, object: "suppression", deleted: true }));
  }),
];
