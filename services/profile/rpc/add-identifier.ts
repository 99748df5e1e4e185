import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AddIdentifierResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { identifierKey, normalizeIdentifier, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { findHolders, identityConflict } from "../holders.ts";
import { toProfile } from "../mapping.ts";
import type { ProfileRow } from "../sql/profiles.ts";
import { writeToProfile } from "../writing.ts";

export function addIdentifier(context: ProfileContext): ServiceImpl<typeof ProfileService>["addIdentifier"] {
  return async (request) => {
    if (!request.identifier) {
      throw new DaybookError("parameter_missing", "`identifier` is required.", { param: "identifier" });
    }
    const { isPrimary } = request.identifier;
    const identifier = normalizeIdentifier(request.identifier, "identifier");
    if ("errors" in identifier) throw DaybookError.ofFields(identifier.errors);

    const { row, gained, resolved } = await writeToProfile(context, request, async (current, attempt) => {
      const known = find(current, identifier);
      if (known !== undefined) return isPrimary ? { promoted: [known] } : {};
      const holders = await findHolders(attempt, [identifier], () => "identifier.value");
      if (holders.length > 0) {
        const advice = "Merge the profiles, or take the identifier from the other first.";
        throw identityConflict(advice, [identifier], holders, () => "identifier.value");
      }
      return { added: [{ ...identifier, isPrimary }], source: request.source };
    });
    const id = find(row, identifier);
    if (id === undefined) {
      // A retry of an operation that was done before.
      const message = "The identifier was added, and was taken from the profile since.";
      throw new DaybookError("resource_not_found", message, { param: "identifier.value" });
    }
    return create(AddIdentifierResponseSchema, {
      profile: toProfile(row),
      identifierId: encodeId("idnt", id),
      created: gained,
      ...resolved,
    });
  };
}

function find(row: ProfileRow, wanted: NormalIdentifier): Uuid | undefined {
  return row.identifiers.find((identifier) => identifierKey(identifier) === identifierKey(wanted))?.id;
}
