/** Texts that name a person: items of jobs, refused or still to do, and refused writes. */
import { create } from "@bufbuild/protobuf";
import {
  CreateEventJobRequestSchema,
  EventJobItemSchema,
  type EventJobItem,
} from "#proto/daybook/event/v1/event_pb.ts";
import { emptyErrorsNaming, forItemsNaming, type ErasableJobs } from "#shared/jobs/erasing.ts";
import { identifierKey, normalizeIdentifier, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { decodeId, tryDecodeId, type Uuid } from "#shared/values/ids.ts";
import type { EventContext } from "./context.ts";
import { eventJobs } from "./jobs.ts";
import { emptyRejectedWrites } from "./rejected-emptying.ts";
import { eventJobErrors } from "./sql/job-errors.ts";

/** Empties texts that name a person. Items that are still to do will be refused. */
export async function emptyTexts(
  context: EventContext,
  property: Uuid,
  profileIds: readonly string[],
  identifiers: readonly NormalIdentifier[],
): Promise<void> {
  const { database } = context;
  await forItemsNaming(database, property, itemsOf(profileIds, identifiers), true);
  await emptyErrorsNaming(database, eventJobErrors, property, { identifiers, profileIds });
  await emptyRejectedWrites(context, property, { profileIds, identifiers });
}

function itemsOf(profileIds: readonly string[], identifiers: readonly NormalIdentifier[]): ErasableJobs<EventJobItem> {
  const ids = new Set<string>(profileIds.map((id) => decodeId("prof", id, "profile_ids")));
  const keys = new Set(identifiers.map(identifierKey));
  const isTheirId = (id: string): boolean => ids.has(tryDecodeId("prof", id) ?? "");
  const isTheirs = (identifier: { type: string; value: string }): boolean => {
    const normal = normalizeIdentifier(identifier, "");
    return !("errors" in normal) && keys.has(identifierKey(normal));
  };
  return {
    statements: eventJobs.statements,
    chunkSchema: CreateEventJobRequestSchema,
    names({ event, profile, update }) {
      const reference = event?.profile?.reference;
      if (reference?.case === "profileId" && isTheirId(reference.value)) return true;
      if (reference?.case === "identifier" && isTheirs(reference.value)) return true;
      if (update && (isTheirId(update.profileId) || update.identifiers.some(isTheirs))) return true;
      return profile?.identifiers.some(isTheirs) ?? false;
    },
    erased: () => create(EventJobItemSchema),
  };
}
