/**
 * The text of an access request's stream: lines of JSON. The first says what it is, the last proves that it is whole:
 * how many lines there are of each kind, and the SHA-256 of all bytes before it.
 */
import { createHash } from "node:crypto";
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileService, type Merge } from "#proto/daybook/profile/v1/profile_pb.ts";
import { makesProfile } from "#shared/values/identifiers.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import { eventJson } from "#shared/wire/events.ts";
import { timeText } from "#shared/wire/text.ts";
import { identifierObject, profileJson } from "../native/convert/profiles.ts";
import { checkPerson, isAfter, mergesOf, profilesOf, survivorsAmong, type Identifier, type Person } from "./person.ts";

/** The kinds of lines, in the order in which they come. */
export const kinds = ["manifest", "profile", "identifier", "merge", "tag_change", "anonymous_event", "event"] as const;
type Kind = (typeof kinds)[number];

/** Lines of one kind: what stands behind the kind in each, as JSON without braces. */
type Page = readonly [kind: Kind, contents: readonly string[]];

const format = 1;
const eventsPerPage = 500;
const entriesPerPage = 500;
const chunkLengthMin = 64 * 1024;
// A person who is erased meanwhile ends the stream within this time.
const checkIntervalMs = 1_000;
const { method, typeName } = ProfileService;
const tagsAction = `${typeName}/${method.updateTags.name}`;

const notes = [
  "Profiles and identifiers are as they were when this stream was made; what was added after as_of is left out.",
  "Which tags were changed is not kept: a tag_change says when, and which member did it in the dashboard.",
  "Events of a profile that was merged into another have the id of that profile.",
  "The last line has the kind end. A stream without it was cut: download it again.",
];

/**
 * Makes the stream in chunks. What is read next is read when the chunk before was taken.
 * @throws DaybookError `download_expired` when the person is erased meanwhile.
 */
export async function* exportText(person: Person): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  const counts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  let [lines, bytes] = [0, 0];
  const take = (text: string): Buffer => {
    const chunk = Buffer.from(text);
    hash.update(chunk);
    bytes += chunk.length;
    return chunk;
  };
  let checkedAtMs = performance.now();
  for await (const [kind, contents] of pagesOf(person)) {
    let text = "";
    for (const content of contents) {
      text += `{"kind":"${kind}",${content}}\n`;
      counts[kind]++;
      lines++;
      if (text.length < chunkLengthMin) continue;
      yield take(text);
      text = "";
    }
    if (text !== "") yield take(text);
    if (performance.now() - checkedAtMs < checkIntervalMs) continue;
    await checkPerson(person);
    checkedAtMs = performance.now();
  }
  await checkPerson(person);
  yield Buffer.from(`${JSON.stringify({ kind: "end", counts, lines, bytes, sha256: hash.digest("hex") })}\n`);
}

async function* pagesOf(person: Person): AsyncGenerator<Page> {
  const { profileIds, identifiers, asOf } = person;
  yield ["manifest", [manifestOf(person)]];
  // Anonymous events may stand under these.
  const wanted = new Map(identifiers.map((identifier) => [keyOf(identifier), identifier]));
  for await (const profiles of profilesOf(person)) {
    yield ["profile", profiles.map((profile) => dataOf(profileJson(profile, { expand: false, showValues: true })))];
    const known = profiles
      .flatMap((profile) => profile.identifiers)
      .filter(({ createdAt }) => createdAt !== undefined && !isAfter(createdAt, asOf));
    for (const identifier of known) if (!makesProfile(identifier.type)) wanted.set(keyOf(identifier), identifier);
    yield ["identifier", known.map((identifier) => dataOf(JSON.stringify(identifierObject(identifier, true))))];
    for await (const merges of mergesOf(person, survivorsAmong(profiles))) {
      yield ["merge", merges.map((merge) => dataOf(JSON.stringify(mergeObject(merge))))];
    }
    for (const { id } of profiles) for await (const changes of tagChangesOf(person, id)) yield ["tag_change", changes];
  }
  for (const { type, value } of wanted.values()) {
    const under = `"identifier":${JSON.stringify({ type, value })},`;
    const subject = { case: "identifier", value: { type, value } } as const;
    for await (const events of eventsOf(person, subject)) {
      yield ["anonymous_event", events.map((event) => under + dataOf(eventJson(event)))];
    }
  }
  for (const profileId of profileIds) {
    for await (const events of eventsOf(person, { case: "profileId", value: profileId })) {
      yield ["event", events.map((event) => dataOf(eventJson(event)))];
    }
  }
}

function manifestOf({ propertyId, request, asOf, profileIds, identifiers }: Person): string {
  const manifest = {
    format,
    privacy_request_id: request.id,
    property_id: propertyId,
    as_of: formatTimestamp(asOf),
    profile_ids: profileIds,
    identifiers: identifiers.map(({ type, value }) => ({ type, value })),
    events: Number(request.download?.events ?? 0n),
    not_reached: request.notReached,
    notes,
  };
  return JSON.stringify(manifest).slice(1, -1);
}

function dataOf(json: string): string {
  return `"data":${json}`;
}

function keyOf({ type, value }: Identifier): string {
  return JSON.stringify([type, value]);
}

function mergeObject({ sourceId, survivorId, mergedAt, mergedBy, moved }: Merge): object {
  return {
    source_profile_id: sourceId,
    survivor_id: survivorId,
    merged_at: timeText(mergedAt),
    merged_by: mergedBy,
    moved: {
      identifier_ids: moved?.identifierIds ?? [],
      attributes: moved?.attributes ?? [],
      tags: moved?.tags ?? [],
      location: moved?.location ?? [],
    },
  };
}

/** Changes of tags, newest first: members make them in the dashboard, and the audit keeps them. */
async function* tagChangesOf({ services, propertyId, asOf }: Person, profileId: string): AsyncGenerator<string[]> {
  for (let hasMore = true, afterEntryId: string | undefined; hasMore;) {
    const asked = { propertyId, action: tagsAction, targetId: profileId, limit: entriesPerPage, afterEntryId };
    const page = await services.members.listAudit(asked);
    yield page.entries
      .filter(({ at, succeeded }) => succeeded && at !== undefined && !isAfter(at, asOf))
      .map(({ at, memberId }) =>
        dataOf(JSON.stringify({ profile_id: profileId, changed_at: timeText(at), changed_by: memberId ?? null })),
      );
    afterEntryId = page.entries.at(-1)?.id;
    ({ hasMore } = page);
  }
}

type Subject = { case: "profileId"; value: string } | { case: "identifier"; value: Identifier };

async function* eventsOf({ services, propertyId, asOf }: Person, subject: Subject): AsyncGenerator<Event[]> {
  for (let hasMore = true, last: Event | undefined; hasMore;) {
    const page = await services.events.exportEvents({
      propertyId,
      subject,
      receivedUpTo: asOf,
      limit: eventsPerPage,
      ...(last ? { after: { time: last.occurredAt, eventId: last.id } } : {}),
    });
    yield page.events;
    last = page.events.at(-1);
    ({ hasMore } = page);
  }
}
