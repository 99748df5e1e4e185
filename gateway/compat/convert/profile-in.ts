/** Reads profiles of bodies into what the profile service writes. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import {
  AttributeOperator,
  type AttributeOperationSchema,
  type LocationPatchSchema,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { findJsonProblems, isJsonObject, mayHaveProblems, textProblem, type JsonObject } from "#shared/json/json.ts";
import { jsonFieldLimits } from "#shared/values/json-fields.ts";
import { locationFields } from "#shared/values/location.ts";
import { numberText } from "../coercion.ts";
import { Faults, pointerTo } from "../faults.ts";
import type { EventProfileAttributes, ProfileMeta } from "../schemas.ts";
import { attributeOf, fitsNatively, phoneAttribute, plainFields, plainLocationFields } from "./fields.ts";
import {
  identifierFields,
  identifierProblem,
  identifierTypes,
  normalValue,
  toPhone,
  type IdentifierField,
} from "./identifiers.ts";

type Operation = MessageInitShape<typeof AttributeOperationSchema>;
type Attributes = Static<typeof EventProfileAttributes>;
type Meta = Static<typeof ProfileMeta>;

/** A profile to write. */
export interface ProfileWrite {
  /** At most one of each field, in order of precedence, then emails to add. */
  identifiers: { type: string; value: string; isPrimary: boolean }[];
  /** Identifier fields that were sent as null. */
  cleared: ReadonlySet<IdentifierField>;
  /** Whether `meta.patch_identifiers` adds or removes any. */
  patchesIdentifiers: boolean;
  removedEmails: string[];
  /** A JSON object; undefined if it would be empty. */
  attributesJson: string | undefined;
  operations: Operation[];
  /** JSON pointers of the operations, in the same order. */
  operationPointers: string[];
  location: MessageInitShape<typeof LocationPatchSchema> | undefined;
  /** Whether anything but identifiers is sent. */
  saysMore: boolean;
  /** Whether the phone number is not E.164. It is stored as an attribute, not as an identifier. */
  hasStrangePhone: boolean;
}

const { bytesMax: attributesBytesMax, depthMax } = jsonFieldLimits;
const operationsMax = 1000;
const emailsMax = 50;

/** Operations of patch_properties by operator. */
const operatorNames = {
  [AttributeOperator.APPEND_UNIQUE]: "append",
  [AttributeOperator.REMOVE]: "unappend",
  [AttributeOperator.DELETE]: "unset",
} as const;
type PatchOperator = keyof typeof operatorNames;

/**
 * Reads a profile.
 * @param pointer JSON pointer of its attributes.
 * @param metaPointer JSON pointer of its meta.
 */
export function readProfileWrite(
  given: { attributes: Attributes; meta?: Meta | null | undefined },
  faults: Faults,
  { pointer, metaPointer }: { pointer: string; metaPointer: string },
): ProfileWrite {
  const { attributes, meta } = given;
  const set: JsonObject = {};
  const operations: Operation[] = [];
  const operationPointers: string[] = [];
  const remove = (key: string): void => {
    operations.push({ op: AttributeOperator.DELETE, path: [key] });
    operationPointers.push(pointer + pointerTo(placeOf([key])));
  };

  const identifiers = readIdentifiers(attributes, faults, pointer, { set, remove });
  const hasStrangePhone = phoneAttribute in set;
  // Operations so far only remove a stored invalid phone number, so they do not count for saysMore.
  const cleanupCount = operations.length;
  for (const field of plainFields) {
    const value = attributes[field];
    if (value === null) remove(attributeOf(field));
    else if (value !== undefined) set[attributeOf(field)] = value;
  }
  const location = readLocation(attributes, faults, pointer, { set, remove });
  const all: JsonObject = Object.fromEntries([...Object.entries(attributes.properties ?? {}), ...Object.entries(set)]);
  const attributesJson = Object.keys(all).length > 0 ? JSON.stringify(all) : undefined;
  if (attributesJson !== undefined) checkAttributes(all, attributesJson, faults, pointer);
  const emails = readMeta(meta, faults, metaPointer, { operations, operationPointers });
  const own = normalValue("email", attributes.email ?? "");
  const added = emails.added.filter((email) => normalValue("email", email) !== own);
  return {
    identifiers: [...identifiers, ...added.map((value) => ({ type: "email", value, isPrimary: false }))],
    cleared: new Set(identifierFields.filter((field) => attributes[field] === null)),
    patchesIdentifiers: emails.added.length + emails.removed.length > 0,
    removedEmails: emails.removed,
    attributesJson,
    operations,
    operationPointers,
    location,
    saysMore:
      attributesJson !== undefined ||
      location !== undefined ||
      operations.length > cleanupCount ||
      added.length + emails.removed.length > 0,
    hasStrangePhone,
  };
}

/** Collects fields that are stored as attributes. */
interface Sink {
  set: JsonObject;
  remove: (key: string) => void;
}

function readIdentifiers(
  attributes: Attributes,
  faults: Faults,
  pointer: string,
  { set, remove }: Sink,
): ProfileWrite["identifiers"] {
  return identifierFields.flatMap((field) => {
    const value = attributes[field];
    if (field === "phone_number" && value === null) remove(phoneAttribute);
    // An empty value counts as absent, because table exports have empty cells.
    if (value === undefined || value === null || value.trim() === "") return [];
    const type = identifierTypes[field];
    if (field === "phone_number") {
      const phone = toPhone(value);
      if (phone === undefined) {
        set[phoneAttribute] = value;
        return [];
      }
      remove(phoneAttribute);
      return [{ type, value: phone, isPrimary: true }];
    }
    const problem = identifierProblem(field, value);
    if (problem !== undefined) faults.add(`${pointer}/${field}`, problem);
    return [{ type, value, isPrimary: true }];
  });
}

function readLocation(
  { location }: Attributes,
  faults: Faults,
  pointer: string,
  { set, remove }: Sink,
): ProfileWrite["location"] {
  if (location === undefined) return undefined;
  const given = location ?? Object.fromEntries([...locationFields, ...plainLocationFields].map((f) => [f, null]));
  const native: Record<string, string> = {};
  const clear: string[] = [];
  for (const field of plainLocationFields) {
    const value = given[field];
    if (value === null) remove(attributeOf(field));
    else if (value !== undefined && typeof value !== "string" && numberText(value) === undefined) {
      faults.add(`${pointer}/location/${field}`, `The ${field} must be a number or a string, such as 51.5 or "51.5".`);
    }
    // Numbers with more digits than a double holds are objects (RawNumber).
    else if (value !== undefined) set[attributeOf(field)] = value as JsonObject[string];
  }
  for (const field of locationFields) {
    const value = given[field];
    if (value === undefined) continue;
    const fits = value !== null && fitsNatively(field, value);
    if (fits) native[field] = value;
    else clear.push(field);
    if (value === null || fits) remove(attributeOf(field));
    else set[attributeOf(field)] = value;
  }
  if (Object.keys(native).length === 0 && clear.length === 0) return undefined;
  return { set: native, clear };
}

function checkAttributes(attributes: JsonObject, json: string, faults: Faults, pointer: string): void {
  const problems = mayHaveProblems(json, depthMax) ? findJsonProblems(attributes, depthMax, faults.room) : [];
  for (const { path, reason } of problems) {
    faults.add(pointer + pointerTo(placeOf(path)), `This ${reason}.`);
  }
  if (Buffer.byteLength(json) > attributesBytesMax) {
    faults.add(`${pointer}/properties`, `The properties of a profile take at most ${attributesBytesMax / 1024} KiB.`);
  }
}

/** The path of an attribute in the body. */
function placeOf(path: readonly string[]): readonly string[] {
  const [key = "", ...rest] = path;
  const field = key.slice(1);
  const isOf = (fields: readonly string[]): boolean => key.startsWith("$") && fields.includes(field);
  if (isOf([...plainFields, "phone_number"])) return [field, ...rest];
  if (isOf([...plainLocationFields, ...locationFields])) return ["location", field, ...rest];
  return ["properties", ...path];
}

function readMeta(
  meta: Meta | null | undefined,
  faults: Faults,
  pointer: string,
  { operations, operationPointers }: Pick<ProfileWrite, "operations" | "operationPointers">,
): { added: string[]; removed: string[] } {
  const { append, unappend, unset } = meta?.patch_properties ?? {};
  const at = `${pointer}/patch_properties`;
  const changes = [
    ...changesOf(AttributeOperator.APPEND_UNIQUE, append),
    ...changesOf(AttributeOperator.REMOVE, unappend),
    ...listOf(unset ?? []).map((key): KeyChanges => ({ op: AttributeOperator.DELETE, key, values: [undefined] })),
  ];
  // Checked before the loop, which costs more for each change.
  const excess = extentProblem(changes, operations.length);
  if (excess !== undefined) faults.add(at, excess);
  for (const { op, key, values } of excess === undefined ? changes : []) {
    const place = `${at}/${operatorNames[op]}${op === AttributeOperator.DELETE ? "" : pointerTo([key])}`;
    const reason = textProblem(key);
    if (reason !== undefined) faults.add(place, `A key here ${reason}.`);
    else for (const value of values) note(op, key, value, place);
  }
  const emailsOf = (name: "append" | "unappend"): string[] => {
    const patch = meta?.patch_identifiers?.[name];
    const place = `${pointer}/patch_identifiers/${name}`;
    for (const key of Object.keys(patch ?? {})) {
      if (key !== "email") faults.add(place + pointerTo([key]), "Only email can be added and removed here.");
    }
    const emails = listOf(isJsonObject(patch) ? (patch.email ?? []) : []);
    if (emails.length > emailsMax) {
      faults.add(`${place}/email`, `There are at most ${emailsMax} emails here.`);
      return [];
    }
    const good = emails.filter((email): email is string => {
      const problem = typeof email === "string" ? identifierProblem("email", email) : "Invalid email address";
      if (problem !== undefined) faults.add(`${place}/email`, problem);
      return problem === undefined;
    });
    return [...new Map(good.map((email) => [normalValue("email", email), email])).values()];
  };
  return { added: emailsOf("append"), removed: emailsOf("unappend") };

  function note(op: PatchOperator, key: string, value: unknown, place: string): void {
    for (const { reason } of findJsonProblems(value, depthMax - 1, 1)) faults.add(place, `This ${reason}.`);
    operations.push({ op, path: [key], valueJson: JSON.stringify(value) });
    operationPointers.push(place);
  }
}

/** The changes of one key, one for each value. */
interface KeyChanges {
  op: PatchOperator;
  key: string;
  values: readonly unknown[];
}

function changesOf(op: PatchOperator, entries: object | null | undefined): KeyChanges[] {
  return Object.entries(entries ?? {}).map(([key, value]) => ({ op, key, values: listOf(value as unknown) }));
}

/**
 * The fault of the number or size of changes. Key lengths count once for each value, because every change repeats its
 * key.
 */
function extentProblem(changes: readonly KeyChanges[], others: number): string | undefined {
  const count = changes.reduce((sum, { values }) => sum + values.length, others);
  if (count > operationsMax) return `There are at most ${operationsMax} changes here.`;
  const keysLength = changes.reduce((sum, { key, values }) => sum + key.length * values.length, 0);
  if (keysLength <= attributesBytesMax) return undefined;
  return `The keys of all changes here take at most ${attributesBytesMax / 1024} KiB together.`;
}

/** A value that may be sent alone or as a list. */
function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}
