/** Where apps are installed: in the property of a key. An access token sees its own installation only. */
import type { Installation as InstallationMessage } from "#proto/daybook/identity/v1/apps_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { readOwnInstallation } from "../../surface/account.ts";
import { installationJson } from "../convert/apps.ts";
import { answerData } from "../envelope.ts";
import { exampleInstallation } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { Installation } from "../resources.ts";

const list = operation("apps:read", {
  id: "listInstallations",
  tag: "Apps",
  summary: "List installations, oldest first",
  description: "Those that have ended are among them. An access token sees its own installation only.",
  query: { paged: true },
  data: Installation,
  list: true,
  success: { 200: "A page of installations" },
  examples: { query: { "page[limit]": "10" }, data: [exampleInstallation] },
});

const read = operation("apps:read", {
  id: "getInstallation",
  tag: "Apps",
  summary: "Read an installation",
  description: "An access token sees its own installation only.",
  data: Installation,
  success: { 200: "The installation" },
  errors: ["invalid_id", "resource_not_found"],
  examples: { data: exampleInstallation },
});

export const installationRoutes = [
  route("GET", "/installations", list, async (exchange) => {
    const { caller, query, propertyId, services } = exchange;
    const page = openPage(exchange, "installations");
    const send = (installations: readonly InstallationMessage[], hasMore: boolean) =>
      answerData(
        exchange,
        `[${installations.map(installationJson).join(",")}]`,
        page.meta(hasMore, installations.at(-1)?.id),
      );
    if (caller.kind === "installation") {
      const { installation } = await readOwnInstallation(exchange);
      return send(page.after === undefined || installation.id > page.after ? [installation] : [], false);
    }
    const { installations, hasMore } = await services.apps.listInstallations({
      propertyId,
      limit: query.limit,
      afterInstallationId: page.after,
    });
    return send(installations, hasMore);
  }),

  route("GET", "/installations/:id", read, async (exchange) => {
    const { caller, ids, propertyId, services } = exchange;
    if (caller.kind === "installation" && ids.id !== caller.callerId) throw noSuchInstallation();
    const { installation } = await services.apps.getInstallation({ propertyId, installationId: ids.id }, () => "id");
    if (!installation) throw noSuchInstallation();
    return answerData(exchange, installationJson(installation));
  }),
];

function noSuchInstallation(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such installation.", { param: "id" });
}
