/** Messages to the domain. */
import {
  AttributeOperator,
  type AttributeOperation as OperationMessage,
  type LocationPatch,
  type Precondition,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { applyOperations, mergeAttributes, type AttributeOperation } from "./domain/attributes.ts";
import { locationFields, type LocationChanges } from "./domain/location.ts";

export function toLocationChanges(patch: LocationPatch | undefined): LocationChanges {
  const changes: LocationChanges = {};
  for (const field of locationFields) {
    const value = patch?.set?.[field];
    if (value !== undefined) changes[field] = value;
    else if (patch?.clear.includes(field)) changes[field] = null;
  }
  return changes;
}

/**
 * Applies what a message says of attributes: whole keys first, then operations.
 * @throws DaybookError as mergeAttributes and applyOperations do.
 */
export function changeAttributes(
  current: string,
  { attributesJson, attributeOperations }: { attributesJson?: string; attributeOperations: OperationMessage[] },
): string {
  const merged = attributesJson === undefined ? current : mergeAttributes(current, attributesJson);
  return attributeOperations.length === 0 ? merged : applyOperations(merged, attributeOperations.map(toOperation));
}

function toOperation({ op, path, valueJson }: OperationMessage, index: number): AttributeOperation {
  const param = `attribute_operations.${index}`;
  const name = operatorNames.get(op);
  if (name === undefined) {
    throw new DaybookError("parameter_missing", "An operation has an op.", { param: `${param}.op` });
  }
  if (name === "delete") {
    if (valueJson === undefined) return { op: name, path };
    throw new DaybookError("parameter_conflict", "A deletion has no value.", { param: `${param}.value` });
  }
  if (valueJson === undefined) {
    throw new DaybookError("parameter_missing", "This operation has a value.", { param: `${param}.value` });
  }
  return { op: name, path, valueJson };
}

const operatorNames = new Map<AttributeOperator, AttributeOperation["op"]>([
  [AttributeOperator.SET, "set"],
  [AttributeOperator.DELETE, "delete"],
  [AttributeOperator.APPEND_UNIQUE, "append_unique"],
  [AttributeOperator.REMOVE, "remove"],
]);

/**
 * Lets a write happen only to the profile that the caller knows.
 * @param version the profile's; undefined when there is none.
 * @throws DaybookError `precondition_failed`
 */
export function checkPrecondition(precondition: Precondition | undefined, version: number | undefined): void {
  if (!precondition) return;
  const { anyVersion, versions } = precondition;
  if (version !== undefined && (anyVersion || versions.includes(BigInt(version)))) return;
  const message = "The profile is not as it was when it was read. Read it again and decide anew.";
  throw new DaybookError("precondition_failed", message, { param: "If-Match" });
}
