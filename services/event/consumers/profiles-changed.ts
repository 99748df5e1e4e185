import { fromBinary } from "@bufbuild/protobuf";
import {
  ProfilesChangedSchema,
  type ProfileChange,
  type ProfilesChanged,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { decodeId, toUuid, type Uuid } from "#shared/values/ids.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { checkHeld } from "../low-watermark.ts";
import { confirmMerged, confirmRedacted, link, redact, type Identifier } from "../attribution.ts";
import type { ResolvedEvent } from "../domain/resolved.ts";
import { storeEvents } from "../storing.ts";
import { readEvents } from "../sql/events.ts";

/** Records changes of profiles as system events, links anonymous events, and empties events of redacted profiles. */
export function profilesChanged(context: EventContext): BusHandler {
  return async (payloads) => {
    const messages = payloads.map(({ payload }) => fromBinary(ProfilesChangedSchema, payload));
    const byProperty = Map.groupBy(messages, ({ propertyId }) => decodeId("prop", propertyId, "property_id"));
    for (const [property, group] of byProperty) {
      const changes = group.flatMap((message) => message.changes);
      // First, because links and redactions cannot be undone.
      const redactions = await confirm(context, property, changes);
      await recordOnce(context, property, group.flatMap(toEvents));
      const gained = changes.flatMap(({ change }) => (change.case === "identified" ? change.value.identifiers : []));
      await link(context, property, gained);
      for (const redaction of redactions) await redact(context, property, redaction.profileIds, redaction);
    }
  };
}

interface Redaction {
  profileIds: readonly string[];
  /** Those that anonymous events may have. */
  identifiers: readonly Identifier[];
  /** Everything that the person was known by. */
  known: readonly Identifier[];
  isRepeated: boolean;
}

/**
 * Asks the profile service to confirm merges and redactions.
 * @returns the redactions.
 * @throws Error when it does not; after its last retry the message becomes a dead letter.
 */
async function confirm(context: EventContext, property: Uuid, changes: readonly ProfileChange[]): Promise<Redaction[]> {
  const sources = changes.flatMap(({ change }) => (change.case === "merged" ? [change.value.sourceProfileId] : []));
  await confirmMerged(context, property, sources);
  const redactions: Redaction[] = [];
  for (const { profileId, change } of changes) {
    if (change.case !== "redacted") continue;
    const { mergedProfileIds, identifiers, knownIdentifiers: known, repeated: isRepeated } = change.value;
    redactions.push({
      profileIds: await confirmRedacted(context, property, profileId, mergedProfileIds),
      identifiers,
      known,
      isRepeated,
    });
  }
  return redactions;
}

type SystemEvent = ResolvedEvent & { id: Uuid };

function toEvents({ changes, changedAt }: ProfilesChanged): SystemEvent[] {
  return changes.flatMap((change): SystemEvent[] => {
    const described = describe(change);
    if (!described || !changedAt) return [];
    return [
      {
        ...described,
        id: toUuid(change.changeId),
        profileId: decodeId("prof", change.profileId, "profile_id"),
        identifier: null,
        money: undefined,
        occurredAt: fromTimestamp(changedAt),
        dedupe: undefined,
        idempotencyKey: undefined,
        uniqueId: undefined,
        metricName: undefined,
        source: "system",
        backfill: false,
      },
    ];
  });
}

function describe({ change }: ProfileChange): { type: string; properties: string } | undefined {
  switch (change.case) {
    case "created":
      return { type: "profile.created", properties: "{}" };
    case "merged":
      return {
        type: "profile.merged",
        properties: JSON.stringify({ source_profile_id: change.value.sourceProfileId }),
      };
    case "redacted":
      return change.value.repeated ? undefined : { type: "profile.redacted", properties: "{}" };
    default:
      return undefined;
  }
}

/** Stores events that are not stored yet. If a message races with its repeat, one of them fails and is retried. */
async function recordOnce(
  { database, clock, watermark, relay }: EventContext,
  property: Uuid,
  events: readonly SystemEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const known = new Set((await readEvents(database, [property, events.map(({ id }) => id)])).map(({ id }) => id));
  const fresh = events.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return;
  await watermark.hold((now) => {
    checkHeld(clock, now);
    return storeEvents({ database }, property, fresh, now);
  });
  relay.wake();
}
