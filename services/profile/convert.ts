/** Converts messages to domain values. */
import {
  AttributeOperator,
  type AttributeOperation as OperationMessage,
  type LocationPatch,
  type Precondition,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { checkFaults, DaybookError, fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";
import { findValuePresenceFault, missingOp } from "#shared/values/attribute-operations.ts";
import { locationFields } from "#shared/values/location.ts";
import type { AttributeOperation } from "./domain/attribute-operations.ts";
import { Attributes } from "./domain/attributes.ts";
import { changeLocation, type LocationChanges, type StoredLocation } from "./domain/location.ts";

/** Changes of attributes and location in a write. */
interface ProfileFields {
  attributesJson?: string;
  attributeOperations?: OperationMessage[];
  location?: LocationPatch;
}

/**
 * Applies changes of attributes (whole keys first, then operations) and of the location.
 * @param current those of the profile. `Attributes` can take several changes.
 * @param faults of other fields of the write, which are listed first.
 * @throws DaybookError with every field at fault.
 */
export function changeFields(
  current: { attributes: string | Attributes; location: StoredLocation | null },
  { attributesJson, attributeOperations = [], location }: ProfileFields,
  faults: FieldError[] = [],
): { attributes: string; location: StoredLocation | null } {
  const attributes = typeof current.attributes === "string" ? new Attributes(current.attributes) : current.attributes;
  if (attributesJson !== undefined || attributeOperations.length > 0) {
    const operations: (AttributeOperation | undefined)[] = [];
    for (const [index, operation] of attributeOperations.entries()) {
      if (faults.length >= fieldErrorsMax) break;
      operations.push(toOperation(operation, index, faults));
    }
    attributes.change(attributesJson, operations, faults);
  }
  const changed = changeLocation(current.location, toLocationChanges(location), faults);
  checkFaults(faults);
  return { attributes: attributes.text, location: changed };
}

/** The fields of a profile that does not exist yet. */
export const noFields = { attributes: "{}", location: null };

/** Refuses a write whose identifiers have faults. @throws DaybookError with these and the faults of other fields. */
export function checkIdentifierFaults(faults: FieldError[], fields: ProfileFields): void {
  if (faults.length > 0) changeFields(noFields, fields, faults);
}

function toLocationChanges(patch: LocationPatch | undefined): LocationChanges {
  const changes: LocationChanges = {};
  for (const field of locationFields) {
    const value = patch?.set?.[field];
    if (value !== undefined) changes[field] = value;
    else if (patch?.clear.includes(field)) changes[field] = null;
  }
  return changes;
}

function toOperation(
  { op, path, valueJson }: OperationMessage,
  index: number,
  faults: FieldError[],
): AttributeOperation | undefined {
  const param = `attribute_operations.${index}`;
  const name = operatorNames.get(op);
  const fault =
    name === undefined
      ? missingOp(`${param}.op`)
      : findValuePresenceFault(name, valueJson !== undefined, `${param}.value`);
  if (fault) faults.push(fault);
  if (fault || name === undefined) return undefined;
  return name === "delete" ? { op: name, path } : { op: name, path, valueJson: valueJson ?? "" };
}

const operatorNames = new Map<AttributeOperator, AttributeOperation["op"]>([
  [AttributeOperator.SET, "set"],
  [AttributeOperator.DELETE, "delete"],
  [AttributeOperator.APPEND_UNIQUE, "append_unique"],
  [AttributeOperator.REMOVE, "remove"],
]);

/**
 * Checks that the caller knows the current version of the profile.
 * @param version of the profile; undefined when there is none.
 * @throws DaybookError `precondition_failed`
 */
export function checkPrecondition(precondition: Precondition | undefined, version: number | undefined): void {
  if (!precondition) return;
  const { anyVersion, versions } = precondition;
  if (version !== undefined && (anyVersion || versions.includes(BigInt(version)))) return;
  const message = "The profile is not as it was when it was read. Read it again and decide anew.";
  throw new DaybookError("precondition_failed", message, { param: "If-Match" });
}
