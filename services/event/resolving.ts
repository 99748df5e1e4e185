/** Resolves the profiles of events through the profile service. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import type { ProfileReferenceSchema, ProfileResolution } from "#proto/daybook/profile/v1/profile_pb.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import type { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, type Uuid } from "#shared/values/ids.ts";
import type { EventContext } from "./context.ts";
import type { ResolvedEvent } from "./domain/resolved.ts";

/** The profile of an event. `resolvedFrom` is the TypeID of the merged profile that the event named, if any. */
export type Resolution = Pick<ResolvedEvent, "profileId" | "identifier"> & { resolvedFrom: string | undefined };

/**
 * Finds the profiles that events refer to, and makes one for an email or phone that nobody has.
 * @param findOnly to make none.
 * @returns for each reference, in order, its profile or the error.
 */
export async function resolveProfiles(
  { profiles }: EventContext,
  property: Uuid,
  references: MessageInitShape<typeof ProfileReferenceSchema>[],
  options: CallOptions,
  { findOnly = false } = {},
): Promise<(Resolution | DaybookError)[]> {
  if (references.length === 0) return [];
  const propertyId = encodeId("prop", property);
  const { resolutions } = await profiles.resolveProfiles({ propertyId, references, findOnly }, options);
  return resolutions.map(toResolution);
}

function toResolution({ outcome }: ProfileResolution): Resolution | DaybookError {
  switch (outcome.case) {
    case "profile": {
      const { profileId, resolvedFrom } = outcome.value;
      return { profileId: decodeId("prof", profileId, "profile_id"), identifier: null, resolvedFrom };
    }
    case "unmatched":
      return { profileId: null, identifier: outcome.value, resolvedFrom: undefined };
    case "error":
      return fromErrorMessage(outcome.value);
    default:
      throw new Error("a reference has no outcome");
  }
}

/** Adds the profiles merged into those of events, because a unique_id of theirs counts for the survivor. */
export async function addFormerProfiles(
  { profiles }: EventContext,
  property: Uuid,
  events: readonly ResolvedEvent[],
  options: CallOptions,
): Promise<void> {
  const survivors = new Set(events.flatMap(({ profileId }) => profileId ?? []));
  if (survivors.size === 0) return;
  const propertyId = encodeId("prop", property);
  const survivorIds = [...survivors].map((id) => encodeId("prof", id));
  const { merged } = await profiles.getMergedProfiles({ propertyId, survivorIds }, options);
  const mergedInto = Map.groupBy(merged, ({ survivorId }) => decodeId("prof", survivorId, "survivor_id"));
  for (const event of events) {
    const former = event.profileId === null ? undefined : mergedInto.get(event.profileId);
    if (former) event.formerProfileIds = former.map(({ profileId }) => decodeId("prof", profileId, "profile_id"));
  }
}
