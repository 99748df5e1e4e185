/** Apps that are installed in the property. An access token sees its own app only. */
import { InstallationStatus, type App } from "#proto/daybook/identity/v1/apps_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { readOwnInstallation } from "../../surface/account.ts";
import { appJson } from "../convert/apps.ts";
import { answerData } from "../envelope.ts";
import { exampleApp } from "../examples.ts";
import type { NativeExchange } from "../exchange.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { App as AppSchema } from "../resources.ts";

const list = operation("apps:read", {
  id: "listApps",
  tag: "Apps",
  summary: "List the apps that are installed, oldest first",
  description: "An access token sees its own app only.",
  query: { paged: true },
  data: AppSchema,
  list: true,
  success: { 200: "A page of apps" },
  examples: { query: { "page[limit]": "10" }, data: [exampleApp] },
});

const read = operation("apps:read", {
  id: "getApp",
  tag: "Apps",
  summary: "Read an app that is installed",
  description: "An access token sees its own app only.",
  data: AppSchema,
  success: { 200: "The app" },
  errors: ["invalid_id", "resource_not_found"],
  examples: { data: exampleApp },
});

export const appRoutes = [
  route("GET", "/apps", list, async (exchange) => {
    const { caller, query, propertyId, services } = exchange;
    const page = openPage(exchange, "apps");
    const send = (apps: readonly App[], hasMore: boolean) =>
      answerData(exchange, `[${apps.map(appJson).join(",")}]`, page.meta(hasMore, apps.at(-1)?.id));
    if (caller.kind === "installation") {
      const { app } = await readOwnInstallation(exchange);
      return send(page.after === undefined || app.id > page.after ? [app] : [], false);
    }
    const { apps, hasMore } = await services.apps.listApps({ propertyId, limit: query.limit, afterAppId: page.after });
    return send(apps, hasMore);
  }),

  route("GET", "/apps/:id", read, async (exchange) => {
    const app = await findInstalled(exchange);
    if (!app) throw new DaybookError("resource_not_found", "There is no such app.", { param: "id" });
    return answerData(exchange, appJson(app));
  }),
];

/** The app of the path, if it is installed in the property and the caller may see it. */
async function findInstalled(exchange: NativeExchange): Promise<App | undefined> {
  const { caller, ids, propertyId, services } = exchange;
  if (caller.kind === "installation") {
    const { app } = await readOwnInstallation(exchange);
    return app.id === ids.id ? app : undefined;
  }
  // A property has one installation of each app.
  const { installations } = await services.apps.listInstallations({ propertyId, appId: ids.id, limit: 1 });
  const installation = installations.find(({ status }) => status === InstallationStatus.ACTIVE);
  if (!installation) return undefined;
  const { app } = await services.apps.getInstallation({ propertyId, installationId: installation.id });
  return app;
}
