/** Rules of body fields: the expected content in words, and checks that the services use too. */
import { systemClock } from "#shared/values/clock.ts";
import { dottedNameExpected, normalizeDottedName } from "#shared/values/dotted-name.ts";
import type { FieldError } from "#shared/values/errors.ts";
import { tryDecodeId, type IdPrefix } from "#shared/values/ids.ts";
import { fieldOfSegments } from "#shared/values/event-field.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "#shared/json/json.ts";
import { findTimezone } from "#shared/values/places.ts";
import { parseDateTime } from "#shared/values/time.ts";
import {
  findPathFault,
  findValuePresenceFault,
  levelsOf,
  pathExpected,
  attributeOperators,
} from "#shared/values/attribute-operations.ts";
import {
  findConditionFaults,
  findGroupByFaults,
  findRangeFaults,
  type WantedCondition,
} from "#shared/values/aggregate.ts";
import {
  dedupeIdLengthMax,
  findIdempotencyKeyFault,
  findShortTextFault,
  idempotencyKeyExpected,
  readOccurredAt,
  shortTextExpected,
} from "#shared/values/event.ts";
import {
  findRepeats,
  findTypeFault,
  identifierExpected,
  identifiersPerWriteMax,
  readValue,
  type WantedIdentifier,
} from "#shared/values/identifiers.ts";
import { findContentFaults, findSizeFault, jsonFieldLimits } from "#shared/values/json-fields.ts";
import { findLocationFault, locationExpected, type LocationField } from "#shared/values/location.ts";
import { moneyExpected, readMoney } from "#shared/values/money.ts";
import { dateTimeExpected } from "#shared/values/times.ts";
import { joinParam, mismatch, missing, quoteName } from "#shared/values/wording.ts";
import { documented, listRule, objectRule, rule, textRule } from "../field-rules.ts";

const textOf = (value: JsonValue | undefined): string | undefined => (typeof value === "string" ? value : undefined);
const isThere = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

export const dottedName = textRule(
  dottedNameExpected,
  (text, param) => {
    const reading = normalizeDottedName(text, param);
    return "error" in reading ? reading.error : undefined;
  },
  { quoted: true },
);

export function idOf(prefix: IdPrefix): ReturnType<typeof textRule> & { [documented]: { pattern: string } } {
  const expected = idExpected(prefix);
  const idRule = textRule(expected, (text, param) =>
    tryDecodeId(prefix, text) === undefined ? mismatch(param, expected, text, { code: "invalid_id" }) : undefined,
  );
  return { ...idRule, [documented]: { pattern: idPattern(prefix) } };
}

/** The pattern of ids in requests, which accept either case; answers have lower case. */
export function idPattern(prefix: IdPrefix): string {
  return `^(${prefix}|${prefix.toUpperCase()})_[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$`;
}

export const dateTime = textRule(
  dateTimeExpected,
  (text, param) =>
    parseDateTime(text) === undefined ? mismatch(param, dateTimeExpected, text, { quoted: true }) : undefined,
  { quoted: true },
);

export const occurredAt = textRule(
  dateTimeExpected,
  (text, param) => {
    const reading = readOccurredAt(text, systemClock.nowMicros(), param);
    return "error" in reading ? reading.error : undefined;
  },
  { quoted: true },
);

export const timezone = textRule(
  locationExpected.timezone,
  (text, param) =>
    findTimezone(text) ? undefined : mismatch(param, locationExpected.timezone, text, { quoted: true }),
  { quoted: true },
);

export const dedupeId = textRule(shortTextExpected(dedupeIdLengthMax), (text, param) =>
  findShortTextFault(text, dedupeIdLengthMax, param),
);

export const idempotencyKeyRule = textRule(idempotencyKeyExpected, findIdempotencyKeyFault);

export function shortText(lengthMax: number): ReturnType<typeof textRule> {
  return textRule(shortTextExpected(lengthMax), (text, param) => findShortTextFault(text, lengthMax, param));
}

export function locationText(field: LocationField): ReturnType<typeof textRule> {
  return textRule(locationExpected[field], (text, param) => findLocationFault(field, text, param));
}

/** The rule of the event checks value and currency together. */
export const money = {
  value: { [rule]: { expected: moneyExpected.value, quoted: true as const } },
  currency: { [rule]: { expected: moneyExpected.currency, quoted: true as const } },
};

/** The rule of the identifier checks type and value together. */
export const identifierParts = {
  type: { [rule]: { expected: identifierExpected.type, quoted: true as const } },
  value: { [rule]: { expected: `${identifierExpected.value} such as "ada@example.com"` } },
};

const identifierExample = 'an identifier such as {"type": "email", "value": "ada@example.com"}';

export const identifier = objectRule(({ type, value }, param) => {
  const [typeText, text] = [textOf(type), textOf(value)];
  const typeFault = typeText === undefined ? undefined : findTypeFault(typeText, joinParam(param, "type"));
  return [...(typeFault ? [typeFault] : []), ...valueFaults(typeText, text, joinParam(param, "value"))];
}, identifierExample);

function valueFaults(type: string | undefined, text: string | undefined, param: string): FieldError[] {
  const reading = text === undefined ? undefined : readValue(type, text, param);
  return reading && "error" in reading ? [reading.error] : [];
}

export const identifierList = {
  [rule]: {
    ...listRule((list, param) => {
      // The schema refuses a list that is too long.
      if (list.length > identifiersPerWriteMax) return [];
      return findRepeats(list.map(toWanted), param).errors;
    })[rule],
    expected: `a list of identifiers such as [{"type": "email", "value": "ada@example.com"}]`,
  },
};

/** The identifier of a list's item, if it is one. */
export function toWanted(item: JsonValue): WantedIdentifier | undefined {
  const { type, value, is_primary: isPrimary } = (item ?? {}) as JsonObject;
  if (typeof type !== "string" || typeof value !== "string" || findTypeFault(type, "")) return undefined;
  const reading = readValue(type, value, "");
  return "error" in reading ? undefined : { type, value: reading.value, isPrimary: isPrimary === true };
}

/** Identifiers by type: the form of the getting-started guide. */
export const identifiersByType = objectRule((identifiers, param) => {
  const entries = Object.entries(identifiers);
  if (entries.length === 0) return [missing(param, 'send at least one, such as {"email": "ada@example.com"}')];
  if (entries.length > identifiersPerWriteMax) return [];
  return entries.flatMap(([type, value]) => {
    const place = joinParam(param, type);
    const fault = findTypeFault(type, place);
    return fault ? [fault] : valueFaults(type, textOf(value), place);
  });
}, 'an object such as {"email": "ada@example.com"}');

/** The profile of an event in the guide's form: exactly one identifier. */
export const guideProfile = objectRule((profile, param) => {
  const types = Object.keys(profile).filter((type) => guideTypes.has(type));
  const one = 'one identifier such as {"email": "ada@example.com"}';
  if (types.length === 0) return [missing(param, `send ${one}`)];
  const faults = types.flatMap((type) => valueFaults(type, textOf(profile[type]), joinParam(param, type)));
  if (types.length === 1) return faults;
  const message = `${quoteName(param)} must have exactly ${one}; got ${types.length} of them.`;
  return [{ code: "parameter_conflict", message, param }, ...faults];
}, 'an object with one identifier such as {"email": "ada@example.com"}');

const guideTypes: ReadonlySet<string> = new Set(["email", "phone", "external_id"]);

/** Checks an event's pairs of fields: profile_id or identifier, and value with currency. */
export const event = objectRule((body) => {
  const faults: FieldError[] = [];
  if (!isThere(body.profile_id) && !isThere(body.identifier)) {
    faults.push(missing("profile_id", `send the id of a profile, or \`identifier\` with ${identifierExample}`));
  } else if (isThere(body.profile_id) && isThere(body.identifier)) {
    faults.push(eitherOr("identifier", "profile_id"));
  }
  const isText = (value: JsonValue | undefined): boolean => !isThere(value) || typeof value === "string";
  // A part that is no text has its own fault, so a valid stand-in lets the other part be checked.
  const value = isText(body.value) ? textOf(body.value) : "0";
  const currency = isText(body.currency) ? textOf(body.currency) : "EUR";
  const reading = readMoney(value, currency);
  return "errors" in reading ? [...faults, ...reading.errors] : faults;
});

/** Checks an aggregate's pairs of fields, metric_id or metric and from before to, its groups and its conditions. */
export const aggregate = objectRule((body) => {
  const faults: FieldError[] = [];
  if (!isThere(body.metric_id) && !isThere(body.metric)) {
    faults.push(missing("metric_id", 'send the id of a metric, or `metric` with its name such as "order.completed"'));
  } else if (isThere(body.metric_id) && isThere(body.metric)) faults.push(eitherOr("metric", "metric_id"));
  const [from, to] = [body.from, body.to].map((time) => (typeof time === "string" ? parseDateTime(time) : undefined));
  if (from !== undefined && to !== undefined) faults.push(...findRangeFaults(from, to));
  if (Array.isArray(body.group_by)) {
    const fields = body.group_by.map(fieldOf);
    // A group of the wrong shape has its own fault.
    if (fields.every((field) => field !== undefined)) faults.push(...findGroupByFaults(fields));
  }
  return [...faults, ...findConditionFaults(conditionsOf(body.filter))];
});

function conditionsOf(filter: JsonValue | undefined): WantedCondition[] {
  if (Array.isArray(filter)) {
    return filter.flatMap((condition, index) => {
      const { field, value = null } = (condition ?? {}) as JsonObject;
      const name = fieldOf(field);
      return name === undefined ? [] : [{ field: name, value, param: `filter.${index}` }];
    });
  }
  if (!isJsonObject(filter)) return [];
  return Object.entries(filter).map(([field, value]) => ({ field, value, param: joinParam("filter", field) }));
}

function fieldOf(field: JsonValue | undefined): string | undefined {
  if (typeof field === "string") return field;
  const areKeys = Array.isArray(field) && field.length > 0 && field.every((key) => typeof key === "string");
  return areKeys ? fieldOfSegments(field) : undefined;
}

/** Allows attributes or attribute_operations, not both. */
export const attributesOnce = objectRule((body) =>
  isThere(body.attributes) && isThere(body.attribute_operations)
    ? [eitherOr("attribute_operations", "attributes")]
    : [],
);

/** Like attributesOnce, but requires one of them. */
export const attributesNeeded = objectRule((body) => {
  if (isThere(body.attributes) && isThere(body.attribute_operations))
    return [eitherOr("attribute_operations", "attributes")];
  if (isThere(body.attributes) || isThere(body.attribute_operations) || Object.keys(body).length === 0) return [];
  return [missing("attributes", "send an object of attributes, or `attribute_operations`")];
});

/** The fault of a field that is sent together with another. */
export function eitherOr(param: string, other: string): FieldError {
  const message = `${quoteName(param)} must not be sent together with ${quoteName(other)}. Send one of the two.`;
  return { code: "parameter_conflict", message, param };
}

/** An object with content of the caller's choice. */
export const anyJson = objectRule(
  (value, param) => {
    const tooLarge = findSizeFault(JSON.stringify(value), param);
    return tooLarge ? [tooLarge] : findContentFaults(value, param);
  },
  `an object, at most ${jsonFieldLimits.bytesMax / 1024} KiB as JSON`,
);

export const operationPath = { [rule]: { expected: pathExpected } };

export const attributeOperation = objectRule(({ op, path, value }, param) => {
  const name = textOf(op);
  const keys = Array.isArray(path) ? path : [path];
  // The schema reports a path of the wrong shape.
  const isPath = keys.length > 0 && keys.every((key) => typeof key === "string");
  if (name === undefined || !isOperator(name)) return [];
  const pathFault = isPath ? findPathFault(name, keys, joinParam(param, "path")) : undefined;
  const presence = findValuePresenceFault(name, value !== undefined, joinParam(param, "value"));
  if (pathFault || presence) return [...(pathFault ? [pathFault] : []), ...(presence ? [presence] : [])];
  if (value === undefined) return [];
  const place = joinParam(param, "value");
  const tooLarge = findSizeFault(JSON.stringify(value), place);
  const levels = isPath ? levelsOf(name, keys) : 0;
  return tooLarge ? [tooLarge] : findContentFaults(value, place, levels);
});

function isOperator(name: string): boolean {
  return (attributeOperators as readonly string[]).includes(name);
}

export function idExpected(prefix: IdPrefix): string {
  return `an id of the form ${prefix}_ and 26 base-32 characters such as "${prefix}_01h455vb4pex5vsknk084sn02q"`;
}
