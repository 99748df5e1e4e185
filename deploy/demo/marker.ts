/**
 * The mark that a demo leaves in the property: a profile of its own, whose attributes say what the demo is made of and
 * how far it is. So it is known where to go on, for longer than the API remembers keys of requests.
 */
import { DemoError, codeOf, good, type Answer, type Client } from "./client.ts";
import type { StorySettings } from "./story.ts";

const externalId = "daybook-demo";
const attribute = "daybook_demo";

export interface Marker extends StorySettings {
  profileId: string;
  /** Steps from the first on that are done. */
  stepsDone: number;
  isFinished: boolean;
  savedMs: number;
}

interface Stored {
  seed: number;
  people: number;
  days: number;
  until: string;
  steps_done: number;
  is_finished: boolean;
  saved_at: string;
}

/** @returns the mark of the property; undefined where there was no demo. */
export async function readMarker(client: Client): Promise<Marker | undefined> {
  const { body } = good(await client.get(`/v1/profiles?filter[external_id]=${externalId}`));
  const [profile] = body.data as unknown[];
  return profile === undefined ? undefined : toMarker(profile);
}

/** Marks the property as that of a new demo. Of several that do it at a time, one does, and all go on with its mark. */
export async function claim(client: Client, settings: StorySettings): Promise<Marker> {
  const first: Stored = toStored({ ...settings, stepsDone: 0, isFinished: false, savedMs: Date.now() });
  const identifiers = [{ type: "external_id", value: externalId }];
  const answer: Answer = await client.post("/v1/profiles", { identifiers, attributes: { [attribute]: first } });
  if (codeOf(answer) !== "identity_conflict") return toMarker(good(answer).body.data);
  const others = await readMarker(client);
  if (!others) throw new DemoError("Another demo began and was taken away. Run the command again.");
  return others;
}

export async function saveMarker(client: Client, marker: Marker): Promise<void> {
  const attributes = { [attribute]: toStored({ ...marker, savedMs: Date.now() }) };
  good(await client.patch(`/v1/profiles/${marker.profileId}`, { attributes }));
}

function toStored({ seed, people, days, untilMs, stepsDone, isFinished, savedMs }: Omit<Marker, "profileId">): Stored {
  return {
    seed,
    people,
    days,
    until: new Date(untilMs).toISOString(),
    steps_done: stepsDone,
    is_finished: isFinished,
    saved_at: new Date(savedMs).toISOString(),
  };
}

function toMarker(profile: unknown): Marker {
  const { id, attributes } = profile as { id: string; attributes: Record<string, Stored | undefined> };
  const stored = attributes[attribute];
  if (!stored) {
    throw new DemoError(
      `The profile ${id} has the external id ${externalId}, and is none of the demo's. Use another property.`,
    );
  }
  const { seed, people, days, until, steps_done: stepsDone, is_finished: isFinished, saved_at: savedAt } = stored;
  const [untilMs, savedMs] = [Date.parse(until), Date.parse(savedAt)];
  return { profileId: id, seed, people, days, untilMs, stepsDone, isFinished, savedMs };
}
