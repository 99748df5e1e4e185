/** Entries of the audit: ids and names of actions, never values. */
import { create } from "@bufbuild/protobuf";
import { AuditEntrySchema, type AuditEntry } from "#proto/daybook/identity/v1/members_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, isId, type Uuid } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { AuditRow } from "../sql/audit.ts";
import { readEmail } from "./members.ts";

/** Entries are kept so long. */
export const keptForMicros = 2 * 365 * 24 * 60 * 60 * 1_000_000;

const targetsMax = 100;
const addressLengthMax = 64;
const actorPattern = /^(?:key|inst)_/;
// `sign_in`, or the full name of a method.
const actionPattern = /^[a-zA-Z][\w./]{0,199}$/;

interface NewEntry {
  memberId: Uuid | null;
  memberEmail: string | null;
  actorId: string | null;
  propertyId: Uuid | null;
  action: string;
  targetIds: readonly string[];
  address: string;
  requestId: string;
  succeeded: boolean;
}

/** @throws DaybookError with what no entry may have. */
export function readEntry(entry: AuditEntry): NewEntry {
  const { memberId, memberEmail, actorId, propertyId, action, targetIds, address, requestId, succeeded } = entry;
  checkAction(action);
  if (actorId !== undefined && (memberId !== undefined || !actorPattern.test(actorId) || !isId(actorId))) {
    throw invalid("actor_id", "must be the id of a key or an installation, without a member");
  }
  if (targetIds.length > targetsMax) {
    throw new DaybookError("too_many_items", `An entry has at most ${targetsMax} ids.`, { param: "target_ids" });
  }
  checkTargets(targetIds, "target_ids");
  if (requestId !== "" && !isId(requestId)) throw invalid("request_id", "must be the id of a request, or empty");
  if (!/^[\w.:%-]*$/.test(address) || address.length > addressLengthMax) {
    throw invalid("address", "must be an address, or empty");
  }
  return {
    memberId: memberId === undefined ? null : decodeId("mem", memberId, "member_id"),
    memberEmail: memberEmail === undefined ? null : readEmail(memberEmail),
    actorId: actorId ?? null,
    propertyId: propertyId === undefined ? null : decodeId("prop", propertyId, "property_id"),
    action,
    targetIds,
    address,
    requestId,
    succeeded,
  };
}

/**
 * A value, such as an email, would outlive the redaction of its person.
 * @throws DaybookError `parameter_invalid`
 */
export function checkTargets(ids: readonly string[], param: string): void {
  if (!ids.every(isId)) throw invalid(param, "must be ids in lower case");
}

/** @throws DaybookError `parameter_invalid` */
export function checkAction(action: string): void {
  if (!actionPattern.test(action)) throw invalid("action", "must be the name of a method, or a word such as sign_in");
}

function invalid(param: string, rule: string): DaybookError {
  return new DaybookError("parameter_invalid", `\`${param}\` ${rule}.`, { param });
}

export function toEntry(row: AuditRow): AuditEntry {
  return create(AuditEntrySchema, {
    id: encodeId("aud", row.id),
    at: toTimestamp(row.at),
    memberId: row.member_id === null ? undefined : encodeId("mem", row.member_id),
    memberEmail: row.member_email ?? undefined,
    actorId: row.actor_id ?? undefined,
    propertyId: row.property_id === null ? undefined : encodeId("prop", row.property_id),
    action: row.action,
    targetIds: row.target_ids,
    address: row.address,
    requestId: row.request_id,
    succeeded: row.succeeded,
  });
}
