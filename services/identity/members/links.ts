/** Setup links and invitations. */
import { create } from "@bufbuild/protobuf";
import { InvitationSchema, type Invitation } from "#proto/daybook/identity/v1/members_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { tokenHashBytes } from "../domain/token.ts";
import type { LinkRow } from "../sql/member-links.ts";
import { toRoleGrant } from "./grants.ts";

/** The most open invitations. */
export const invitationsMax = 500;

/** @throws DaybookError as of a link that there is not. */
export function readTokenHash(hash: Uint8Array): Buffer {
  if (hash.length !== tokenHashBytes) throw noSuchLink();
  return Buffer.from(hash);
}

/** The same for unknown, used and ended links. */
export function noSuchLink(): DaybookError {
  return new DaybookError("resource_not_found", "This link does not work, or not any more. Ask for a new one.");
}

export function toInvitation(row: LinkRow): Invitation {
  return create(InvitationSchema, {
    id: encodeId("inv", row.id),
    email: row.email ?? "",
    grants: row.grants.map(toRoleGrant),
    createdAt: toTimestamp(row.created_at),
    expiresAt: toTimestamp(row.expires_at),
    invitedBy: row.invited_by === null ? undefined : encodeId("mem", row.invited_by),
  });
}
