/** Commands for properties and keys. */
import { Mode, type Key, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { formatTimestamp, parseDateTime, toTimestamp } from "#shared/values/time.ts";
import { readAll, required, type Arguments, type Command, type OptionName, type Result } from "../command.ts";
import { UsageError } from "../usage.ts";

const pageItems = 500;
const overlapHoursDefault = 24;
const overlapHoursMax = 30 * 24;

export const identityCommands: readonly Command[] = [
  {
    name: "properties list",
    usage: "",
    summary: "the properties with their ids",
    words: [0, 0],
    options: [],
    async run({ identity }) {
      const properties = await readAll<Property>(async (last) => {
        const after = last && { afterPropertyId: last.id };
        const page = await identity.listProperties({ limit: pageItems, ...after });
        return { items: page.properties, hasMore: page.hasMore };
      });
      const shown = properties.map(showProperty);
      return { text: shown.map(propertyLine).join("\n"), json: shown };
    },
  },
  {
    name: "properties create",
    usage: "<name>",
    summary: "makes a property",
    words: [1, 1],
    options: ["mode"],
    optional: ["currency", "timezone"],
    async run({ identity }, { words: [name = ""], options }) {
      const { mode } = options;
      if (mode !== "live" && mode !== "test") throw new UsageError("--mode is live or test.");
      const request = { name, mode: mode === "live" ? Mode.LIVE : Mode.TEST, ...readPropertySettings(options) };
      const { property } = await identity.createProperty(request);
      const shown = showProperty(required(property));
      return { text: shown.id, json: shown };
    },
  },
  {
    name: "properties update",
    usage: "<property id>",
    summary: "changes what is said of a property; gateways know within 5 seconds",
    words: [1, 1],
    options: [],
    optional: ["name", "currency", "timezone"],
    async run({ identity }, { words: [propertyId = ""], options }) {
      const { name } = options;
      const settings = readPropertySettings(options);
      if ([name, ...Object.values(settings)].every((value) => value === undefined)) {
        throw new UsageError("Say what is to change: --name, --currency or --timezone.");
      }
      const request = { propertyId, ...settings, name };
      const { property } = await identity.updateProperty(request);
      const shown = showProperty(required(property));
      return { text: propertyLine(shown), json: shown };
    },
  },
  {
    name: "keys list",
    usage: "",
    summary: "the keys of a property; their secrets are kept nowhere",
    words: [0, 0],
    options: ["property"],
    async run({ identity }, { options: { property = "" } }) {
      const keys = await readAll<Key>(async (last) => {
        const after = last && { afterKeyId: last.id };
        const page = await identity.listKeys({ propertyId: property, limit: pageItems, ...after });
        return { items: page.keys, hasMore: page.hasMore };
      });
      const shown = keys.map(showKey);
      return { text: shown.map(keyLine).join("\n"), json: shown };
    },
  },
  {
    name: "keys create",
    usage: "<name>",
    summary: "makes a key and shows its secret, this once",
    words: [1, 1],
    options: ["property", "scopes"],
    optional: ["expires", "revision", "rate-limit", "rate-limit-backfill"],
    async run({ identity }, { words: [name = ""], options }) {
      const { property = "", scopes = "", expires, revision } = options;
      const [ordinary, backfill] = [readLimit(options, "rate-limit"), readLimit(options, "rate-limit-backfill")];
      const { key, secret } = await identity.createKey({
        propertyId: property,
        name,
        ...(scopes === "all" ? { allScopes: true } : { scopes: scopes.split(",").filter((scope) => scope !== "") }),
        expiresAt: expires === undefined ? undefined : readTime(expires),
        revision,
        rateLimits: {
          ordinary,
          backfill,
        },
      });
      return showSecret(required(key), secret);
    },
  },
  {
    name: "keys rotate",
    usage: "<key id>",
    summary: "makes a key that may do the same, and lets this one end",
    words: [1, 1],
    options: ["property"],
    optional: ["overlap"],
    async run({ identity }, { words: [keyId = ""], options: { property = "", overlap } }) {
      const overlapSeconds = Math.round(readHours(overlap) * 3600);
      const { key, secret, replaced } = await identity.rotateKey({ propertyId: property, keyId, overlapSeconds });
      const result = showSecret(required(key), secret);
      const old = showKey(required(replaced));
      return {
        text: `${result.text}\n${old.id} opens nothing from ${old.expires_at} on.`,
        json: { ...(result.json as object), replaced: old },
      };
    },
  },
  {
    name: "keys revoke",
    usage: "<key id>",
    summary: "ends a key; it opens nothing 5 seconds later",
    words: [1, 1],
    options: ["property"],
    isIrreversible: true,
    async run({ identity }, { words: [keyId = ""], options: { property = "" } }) {
      const { key } = await identity.revokeKey({ propertyId: property, keyId });
      const shown = showKey(required(key));
      return { text: `${shown.id} is revoked.`, json: shown };
    },
  },
];

function showProperty({ id, name, mode, createdAt, defaultCurrency, timezone }: Property) {
  return {
    id,
    mode: mode === Mode.LIVE ? "live" : "test",
    name,
    default_currency: defaultCurrency,
    timezone,
    created_at: createdAt ? formatTimestamp(createdAt) : null,
  };
}

function propertyLine({
  id,
  mode,
  name,
  default_currency: currency,
  timezone,
}: ReturnType<typeof showProperty>): string {
  return `${id}  ${mode}  ${name}  ${currency}  ${timezone}`;
}

function readPropertySettings({ currency, timezone }: Arguments["options"]) {
  return {
    defaultCurrency: currency,
    timezone,
  };
}

function showKey(key: Key) {
  const time = (value: Key["createdAt"]): string | null => (value ? formatTimestamp(value) : null);
  return {
    id: key.id,
    name: key.name,
    prefix: key.displayPrefix,
    scopes: key.scopes,
    revision: key.revision,
    created_at: time(key.createdAt),
    expires_at: time(key.expiresAt),
    revoked_at: time(key.revokedAt),
    last_used_at: time(key.lastUsedAt),
    // Null where the key has no limit of its own.
    rate_limits: { ordinary: key.rateLimits?.ordinary ?? null, backfill: key.rateLimits?.backfill ?? null },
  };
}

function keyLine(key: ReturnType<typeof showKey>): string {
  const { expires_at: expires, revoked_at: revoked, last_used_at: used, rate_limits: limits } = key;
  return [
    key.id,
    `${key.prefix}…`,
    key.name,
    used === null ? "never used" : `used ${used}`,
    ...(limits.ordinary === null ? [] : [`${limits.ordinary} requests a minute`]),
    ...(limits.backfill === null ? [] : [`${limits.backfill} backfill batches a minute`]),
    ...(revoked === null ? (expires === null ? [] : [`ends ${expires}`]) : [`revoked ${revoked}`]),
  ].join("  ");
}

function showSecret(key: Key, secret: string): Result {
  return { text: `${secret}\n${key.id}; the secret is shown this once.`, json: { ...showKey(key), secret } };
}

function readTime(text: string) {
  const micros = parseDateTime(text);
  if (micros === undefined) throw new UsageError("--expires is an ISO 8601 date-time with an offset or Z.");
  return toTimestamp(micros);
}

function readLimit(options: Arguments["options"], name: OptionName): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} is a whole number of requests a minute.`);
}

function readHours(text: string | undefined): number {
  if (text === undefined) return overlapHoursDefault;
  const hours = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (hours >= 0 && hours <= overlapHoursMax) return hours;
  throw new UsageError(`--overlap is a number of hours, at most ${overlapHoursMax}.`);
}
