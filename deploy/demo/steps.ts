/** The story as requests, in an order that the API needs. Each can be sent again, and does nothing twice. */
import { Steps } from "#shared/scheduling/steps.ts";
import { codeOf, DemoError, good, type Answer, type Client } from "./client.ts";
import { attributesOf, type Person } from "./people.ts";
import { eventTypes, tellStory, type EventType, type Happening, type StoreEvent, type StorySettings } from "./story.ts";

export interface Step {
  /** Events and profiles that it writes. */
  units: number;
  send(client: Client, idempotencyKey: string): Promise<void>;
  /** Whether an earlier run sent it, where a repeat would double something once its key is forgotten. */
  wasSent?(client: Client): Promise<boolean>;
}

/** Its steps may run at a time, and all of them are done before the next phase begins. */
export interface Phase {
  /** What it is doing, for the progress. */
  name: string;
  steps: () => Generator<Step>;
}

/** What the whole story comes to. */
export interface Plan {
  settings: StorySettings;
  people: readonly Person[];
  eventsByType: ReadonlyMap<EventType, number>;
  /** Events that nobody is known to have done at first. */
  anonymous: number;
  profiles: number;
  merges: number;
  imported: number;
  refused: number;
}

const eventsOfBatch = 1000;
const profilesOfBatch = 100;
/** What is newer is sent as events of now; what is older, as history. */
const recentMs = 6 * 3_600_000;
const importShare = 0.04;
/** Of the imported, how many more are refused. */
const refusedShare = 0.05;

/** Tells the story once, to know how it ends. @param stopping ends it. */
export async function makePlan(settings: StorySettings, stopping: AbortSignal): Promise<Plan> {
  const eventsByType = new Map<EventType, number>();
  let anonymous = 0;
  const pauses = new Steps();
  const story = tellStory(settings);
  let next = story.next();
  for (; !next.done; next = story.next()) {
    const { event, isAnonymous } = next.value;
    eventsByType.set(event.type, (eventsByType.get(event.type) ?? 0) + 1);
    if (isAnonymous) anonymous++;
    await pauses.next();
    stopping.throwIfAborted();
  }
  const people = next.value;
  const known = people.filter(({ isKnown }) => isKnown);
  const merges = known.filter(({ usedOtherEmail }) => usedOtherEmail).length;
  const imported = Math.ceil(settings.people * importShare);
  const refused = mismatched(people, imported).length;
  const profiles = known.length + imported;
  return { settings, people, eventsByType, anonymous, profiles, merges, imported, refused };
}

export function phasesOf(plan: Plan): Phase[] {
  return [
    { name: "describing metrics", steps: describeMetrics },
    // Before anybody is known, so that they are linked as they would be.
    { name: "anonymous visits", steps: () => recordEvents(plan, (happening) => happening.isAnonymous) },
    { name: "profiles", steps: () => writeProfiles(plan) },
    { name: "visits and orders", steps: () => recordEvents(plan, (happening) => !happening.isAnonymous) },
    { name: "merging profiles", steps: () => mergeProfiles(plan) },
    { name: "importing profiles", steps: () => importProfiles(plan) },
  ];
}

function* describeMetrics(): Generator<Step> {
  for (const [name, description] of Object.entries(eventTypes)) {
    yield {
      units: 0,
      async send(client, idempotencyKey) {
        const answer = await client.post("/v1/metrics", { name, description }, { idempotencyKey });
        if (codeOf(answer) !== "metric_exists") good(answer);
      },
    };
  }
}

function* recordEvents({ settings }: Plan, isWanted: (happening: Happening) => boolean): Generator<Step> {
  const recentFrom = settings.untilMs - recentMs;
  const batches: Record<"history" | "recent", StoreEvent[]> = { history: [], recent: [] };
  for (const happening of tellStory(settings)) {
    if (!isWanted(happening)) continue;
    const kind = happening.atMs > recentFrom ? "recent" : "history";
    const batch = batches[kind];
    batch.push(happening.event);
    if (batch.length < eventsOfBatch) continue;
    yield recordBatch(batch, kind === "history");
    batches[kind] = [];
  }
  if (batches.history.length > 0) yield recordBatch(batches.history, true);
  if (batches.recent.length > 0) yield recordBatch(batches.recent, false);
}

function recordBatch(events: readonly StoreEvent[], backfill: boolean): Step {
  return {
    units: events.length,
    send: async (client, idempotencyKey) =>
      allDone(await client.post("/v1/events/batch", { events, backfill }, { idempotencyKey })),
    // A batch is recorded as a whole, and its first event is the only one of that microsecond and type.
    async wasSent(client) {
      const [{ type, occurred_at: at } = { type: "", occurred_at: "" }] = events;
      const query = { "filter[type]": type, "filter[occurred_at][gte]": at, "filter[occurred_at][lte]": at };
      const { body } = good(await client.get(`/v1/events?${new URLSearchParams(query).toString()}`));
      return (body.data as unknown[]).length > 0;
    },
  };
}

function* writeProfiles({ people }: Plan): Generator<Step> {
  const profiles = people.filter(({ isKnown }) => isKnown).flatMap(toProfiles);
  for (let first = 0; first < profiles.length; first += profilesOfBatch) {
    const batch = profiles.slice(first, first + profilesOfBatch);
    yield {
      units: batch.length,
      send: async (client, idempotencyKey) =>
        allDone(await client.post("/v1/profiles/batch", { profiles: batch }, { idempotencyKey })),
    };
  }
}

/** The profile of a person, and the one that they made by mistake. */
function toProfiles(person: Person): object[] {
  const { email, otherEmail, anonymousId, externalId, phone, market, place } = person;
  const identifiers = [
    { type: "email", value: email, is_primary: true },
    ...(person.wasAnonymous ? [{ type: "anonymous_id", value: anonymousId }] : []),
    ...(externalId === undefined ? [] : [{ type: "external_id", value: externalId }]),
    ...(phone === undefined ? [] : [{ type: "phone", value: phone }]),
  ];
  const location = { ...place, country: market.country, timezone: market.timezone };
  const profile = { identifiers, attributes: attributesOf(person), location };
  if (!person.usedOtherEmail || otherEmail === undefined) return [profile];
  const other = { identifiers: [{ type: "email", value: otherEmail }], attributes: { first_name: person.firstName } };
  return [profile, other];
}

function* mergeProfiles({ people }: Plan): Generator<Step> {
  for (const { email, otherEmail, usedOtherEmail } of people) {
    if (!usedOtherEmail || otherEmail === undefined) continue;
    yield {
      units: 1,
      async send(client) {
        const [survivor, other] = [await idOf(client, email), await idOf(client, otherEmail)];
        // An earlier run has merged them.
        if (survivor === other) return;
        good(await client.post(`/v1/profiles/${survivor}/merge`, { source_profile_id: other }));
      },
    };
  }
}

async function idOf(client: Client, email: string): Promise<string> {
  const { body } = good(await client.get(`/v1/profiles?filter[email]=${encodeURIComponent(email)}`));
  const [profile] = body.data as { id: string }[];
  if (!profile) throw new DemoError(`The profile of ${email} is gone. Something else writes to this property.`);
  return profile.id;
}

/** Guests of a fair, from a list. The API has no job of imports but the one of the compatibility surface. */
function* importProfiles({ people, imported }: Plan): Generator<Step> {
  const guests = Array.from({ length: imported }, (_none, index) => ({
    email: `guest${index + 1}@fair.example.org`,
    properties: { met_at: "tea fair" },
  }));
  // Each names two persons, as lists that were put together by hand do, and is refused.
  const mixed = mismatched(people, imported);
  const data = [...guests, ...mixed].map((attributes) => ({ type: "profile", attributes }));
  const body = { data: { type: "profile-bulk-import-job", attributes: { profiles: { data } } } };
  yield {
    units: data.length,
    async send(client, idempotencyKey) {
      good(await client.post("/api/profile-bulk-import-jobs", body, { idempotencyKey }));
    },
  };
}

function mismatched(people: readonly Person[], imported: number): { email: string; external_id: string }[] {
  const known = people.filter(({ isKnown }) => isKnown);
  const holders = known.filter(({ externalId }) => externalId !== undefined);
  const wanted = holders.slice(0, Math.ceil(imported * refusedShare));
  return wanted.flatMap((holder) => {
    const other = known.find(({ index }) => index !== holder.index);
    return other ? [{ email: other.email, external_id: holder.externalId ?? "" }] : [];
  });
}

/** @throws DemoError unless every item was taken. */
function allDone(answer: Answer): void {
  const { results } = good(answer).body.data as { results: { error: { message: string } | null }[] };
  const failed = results.find(({ error }) => error !== null);
  if (failed) throw new DemoError(`The API refused an item of the demo: ${failed.error?.message}`);
}
