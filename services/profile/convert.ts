/** Messages to the domain. */
import {
  AttributeOperator,
  type AttributeOperation as OperationMessage,
  type LocationPatch,
  type Precondition,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { findValuePresenceFault, missingOp } from "#shared/values/attribute-operations.ts";
import { locationFields } from "#shared/values/location.ts";
import type { AttributeOperation } from "./domain/attribute-operations.ts";
import { Attributes } from "./domain/attributes.ts";
import type { LocationChanges } from "./domain/location.ts";

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
 * @param current their text, or attributes that are under changes.
 * @returns the text that they then are.
 * @throws DaybookError as Attributes.change does.
 */
export function changeAttributes(
  current: string | Attributes,
  { attributesJson, attributeOperations }: { attributesJson?: string; attributeOperations: OperationMessage[] },
): string {
  const attributes = typeof current === "string" ? new Attributes(current) : current;
  if (attributesJson !== undefined || attributeOperations.length > 0) {
    attributes.change(attributesJson, attributeOperations.map(toOperation));
  }
  return attributes.text;
}

function toOperation({ op, path, valueJson }: OperationMessage, index: number): AttributeOperation {
  const param = `attribute_operations.${index}`;
  const name = operatorNames.get(op);
  if (name === undefined) throw DaybookError.ofFields([missingOp(`${param}.op`)]);
  const fault = findValuePresenceFault(name, valueJson !== undefined, `${param}.value`);
  if (fault) throw DaybookError.ofFields([fault]);
  return name === "delete" ? { op: name, path } : { op: name, path, valueJson: valueJson ?? "" };
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
