/** Commands for partner apps and where they are installed. Each that changes something leaves an entry in the audit. */
import {
  AppService,
  AppStatus,
  AppType,
  InstallationStatus,
  RevokedReason,
  type App,
  type Installation,
} from "#proto/daybook/identity/v1/apps_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import { audit } from "../audit.ts";
import {
  readAll,
  readList,
  required,
  type Arguments,
  type Command,
  type OperatorServices,
  type Result,
} from "../command.ts";
import { readGrace } from "../grace.ts";
import { UsageError } from "../usage.ts";

const pageItems = 500;
const { method } = AppService;
const types = { confidential: AppType.CONFIDENTIAL, public: AppType.PUBLIC } as const;

export const appCommands: readonly Command[] = [
  {
    name: "apps list",
    usage: "",
    summary: "the apps of partners, or those that are installed in a property",
    words: [0, 0],
    options: [],
    optional: ["property"],
    async run({ apps }, { options: { property: propertyId } }) {
      const all = await readAll<App>(async (last) => {
        const page = await apps.listApps({ limit: pageItems, propertyId, ...(last && { afterAppId: last.id }) });
        return { items: page.apps, hasMore: page.hasMore };
      });
      const shown = all.map(showApp);
      return { text: shown.map(appLine).join("\n"), json: shown };
    },
  },
  {
    name: "apps show",
    usage: "<app id>",
    summary: "all that is known of an app; its secrets are kept nowhere",
    words: [1, 1],
    options: [],
    async run({ apps }, { words: [appId = ""] }) {
      const { app } = await apps.getApp({ appId });
      const shown = showApp(required(app));
      return { text: appText(shown), json: shown };
    },
  },
  {
    name: "apps create",
    usage: "<name>",
    summary: "makes an app, and shows the secret of a confidential one, this once",
    words: [1, 1],
    options: ["type", "redirect-uris", "scopes"],
    optional: ["description", "homepage", "webhook-url", "webhook-types"],
    async run(services, { words: [name = ""], options }) {
      const { type = "" } = options;
      if (!Object.hasOwn(types, type)) throw new UsageError(`--type is ${Object.keys(types).join(" or ")}.`);
      const webhook = readWebhook(options, undefined);
      const request = { name, type: types[type as keyof typeof types], ...readFields(options), ...webhook };
      const { app, secret } = await services.apps.createApp(request);
      const shown = showApp(required(app));
      await audit(services, method.createApp, { targetIds: [shown.id] });
      return secret === undefined ? { text: shown.id, json: shown } : showSecret(shown, secret);
    },
  },
  {
    name: "apps update",
    usage: "<app id>",
    summary:
      "changes what is said; an empty --homepage or --webhook-url removes it, and installations keep their scopes",
    words: [1, 1],
    options: [],
    optional: ["name", "redirect-uris", "scopes", "description", "homepage", "webhook-url", "webhook-types"],
    async run(services, { words: [appId = ""], options }) {
      const isOfWebhook = options["webhook-url"] !== undefined || options["webhook-types"] !== undefined;
      const known = isOfWebhook ? (await services.apps.getApp({ appId })).app : undefined;
      const fields = { ...readFields(options), ...readWebhook(options, known?.webhook) };
      return update(services, { appId, name: options.name, ...fields });
    },
  },
  {
    name: "apps webhook-secret",
    usage: "<app id>",
    summary: "gives the webhook of an app a new secret, and shows it, this once",
    words: [1, 1],
    options: [],
    optional: ["grace"],
    async run(services, { words: [appId = ""], options: { grace } }) {
      const graceSeconds = readGrace(grace);
      const { secret } = await services.webhooks.rotateAppWebhookSecret({ appId, graceSeconds });
      await audit(services, WebhookService.method.rotateAppWebhookSecret, { targetIds: [appId.toLowerCase()] });
      return { text: `${secret}\nThe secret is shown this once.`, json: { app_id: appId.toLowerCase(), secret } };
    },
  },
  {
    name: "apps suspend",
    usage: "<app id>",
    summary: "ends all installations of an app, which have to be made anew, and keeps it from being installed",
    words: [1, 1],
    options: [],
    isIrreversible: true,
    run: (services, { words: [appId = ""] }) => update(services, { appId, status: AppStatus.SUSPENDED }),
  },
  {
    name: "apps activate",
    usage: "<app id>",
    summary: "lets a suspended app be installed again",
    words: [1, 1],
    options: [],
    run: (services, { words: [appId = ""] }) => update(services, { appId, status: AppStatus.ACTIVE }),
  },
  {
    name: "apps add-secret",
    usage: "<app id>",
    summary: "makes another secret of an app beside the one that it has, and shows it, this once",
    words: [1, 1],
    options: [],
    async run(services, { words: [appId = ""] }) {
      const { app, secret } = await services.apps.addAppSecret({ appId });
      const shown = showApp(required(app));
      await audit(services, method.addAppSecret, { targetIds: [shown.id] });
      return showSecret(shown, secret);
    },
  },
  {
    name: "apps remove-secret",
    usage: "<app id> <secret id>",
    summary: "ends a secret of an app, which keeps another",
    words: [2, 2],
    options: [],
    isIrreversible: true,
    async run(services, { words: [appId = "", secretId = ""] }) {
      const { app } = await services.apps.removeAppSecret({ appId, secretId });
      const shown = showApp(required(app));
      await audit(services, method.removeAppSecret, { targetIds: [shown.id, secretId.toLowerCase()] });
      return { text: appText(shown), json: shown };
    },
  },
  {
    name: "installations list",
    usage: "",
    summary: "the installations of a property, of an app, or of both, those that have ended among them",
    words: [0, 0],
    options: [],
    optional: ["property", "app"],
    async run({ apps }, { options: { property: propertyId, app: appId } }) {
      if (propertyId === undefined && appId === undefined) throw new UsageError("Say --property, --app, or both.");
      const all = await readAll<Installation>(async (last) => {
        const after = last && { afterInstallationId: last.id };
        const page = await apps.listInstallations({ limit: pageItems, propertyId, appId, ...after });
        return { items: page.installations, hasMore: page.hasMore };
      });
      const shown = all.map(showInstallation);
      return { text: shown.map(installationLine).join("\n"), json: shown };
    },
  },
  {
    name: "installations end",
    usage: "<installation id>",
    summary: "ends an installation with its tokens; they open nothing 5 seconds later",
    words: [1, 1],
    options: ["property"],
    isIrreversible: true,
    async run(services, { words: [installationId = ""], options: { property = "" } }) {
      const request = { propertyId: property, installationId, reason: RevokedReason.OPERATOR };
      const { installation } = await services.apps.endInstallation(request);
      const shown = showInstallation(required(installation));
      await audit(services, method.endInstallation, { targetIds: [shown.id], propertyId: shown.property_id });
      return { text: installationLine(shown), json: shown };
    },
  },
];

async function update(
  services: OperatorServices,
  request: Parameters<OperatorServices["apps"]["updateApp"]>[0],
): Promise<Result> {
  const { app } = await services.apps.updateApp(request);
  const shown = showApp(required(app));
  await audit(services, method.updateApp, { targetIds: [shown.id] });
  return { text: appText(shown), json: shown };
}

function readFields(options: Arguments["options"]) {
  const { description, homepage: homepageUrl, scopes, "redirect-uris": uris } = options;
  return {
    description,
    homepageUrl,
    scopes: scopes === undefined ? [] : readList(scopes),
    // A comma may be in an address, a space is in none.
    redirectUris: uris === undefined ? [] : uris.split(/\s+/).filter((uri) => uri !== ""),
  };
}

/** What options say of a webhook. What they leave out stays as it is. */
function readWebhook(options: Arguments["options"], known: App["webhook"]) {
  const { "webhook-url": url = known?.url, "webhook-types": wanted } = options;
  if (url === undefined && wanted === undefined) return {};
  if (url === undefined) throw new UsageError("--webhook-types needs --webhook-url.");
  return { webhook: { url, types: wanted === undefined ? (known?.types ?? []) : readList(wanted) } };
}

function timeOf(time: App["createdAt"]): string | null {
  return time ? formatTimestamp(time) : null;
}

function showApp(app: App) {
  return {
    id: app.id,
    name: app.name,
    description: app.description,
    homepage_url: app.homepageUrl ?? null,
    redirect_uris: app.redirectUris,
    scopes: app.scopes,
    webhook: app.webhook ? { url: app.webhook.url, types: app.webhook.types } : null,
    type: app.type === AppType.PUBLIC ? "public" : "confidential",
    status: app.status === AppStatus.ACTIVE ? "active" : "suspended",
    secrets: app.secrets.map(({ id, displayPrefix, createdAt }) => ({
      id,
      prefix: displayPrefix,
      created_at: timeOf(createdAt),
    })),
    created_at: timeOf(app.createdAt),
    updated_at: timeOf(app.updatedAt),
  };
}

function appLine({ id, name, type, status, scopes }: ReturnType<typeof showApp>): string {
  return [id, name, type, status, scopes.join(",")].join("  ");
}

function appText(app: ReturnType<typeof showApp>): string {
  return [
    appLine(app),
    ...(app.description === "" ? [] : [app.description]),
    ...(app.homepage_url === null ? [] : [app.homepage_url]),
    ...app.redirect_uris.map((uri) => `sends browsers back to ${uri}`),
    ...(app.webhook === null ? [] : [`is sent ${app.webhook.types.join(",")} at ${app.webhook.url}`]),
    ...app.secrets.map(({ id, prefix, created_at: made }) => `secret ${id}  ${prefix}…  made ${made}`),
  ].join("\n");
}

function showSecret(app: ReturnType<typeof showApp>, secret: string): Result {
  return { text: `${secret}\n${app.id}; the secret is shown this once.`, json: { ...app, secret } };
}

function showInstallation(installation: Installation) {
  const { status, revokedReason } = installation;
  const isActive = status === InstallationStatus.ACTIVE;
  return {
    id: installation.id,
    app_id: installation.appId,
    property_id: installation.propertyId,
    mode: installation.mode === Mode.LIVE ? "live" : "test",
    scopes: installation.scopes,
    status: isActive ? "active" : "revoked",
    revoked_reason: isActive ? null : reasonInWords(revokedReason),
    installed_by: installation.installedBy,
    revision: installation.revision,
    created_at: timeOf(installation.createdAt),
    updated_at: timeOf(installation.updatedAt),
    revoked_at: timeOf(installation.revokedAt),
    last_used_at: timeOf(installation.lastUsedAt),
  };
}

/** The name of a reason in lower case, such as token_reuse. */
function reasonInWords(reason: RevokedReason): string {
  const [name = "unknown"] = Object.entries(RevokedReason).find(([, known]) => known === reason) ?? [];
  return name.toLowerCase();
}

function installationLine(installation: ReturnType<typeof showInstallation>): string {
  const { id, app_id: app, property_id: property, scopes, last_used_at: used, revoked_at: ended } = installation;
  return [
    id,
    app,
    property,
    scopes.join(","),
    used === null ? "never used" : `used ${used}`,
    ...(ended === null ? [] : [`ended ${ended} (${installation.revoked_reason})`]),
  ].join("  ");
}
