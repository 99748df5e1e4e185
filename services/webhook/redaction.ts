/** Redaction: empties what messages and answers of receivers say of a person. */
import { systemCall } from "#shared/rpc/interceptors.ts";
import { inChunks } from "#shared/database/postgres.ts";
import { encodeId, nilUuid, type Uuid } from "#shared/values/ids.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import type { Names } from "#shared/values/names.ts";
import { personFinder } from "#shared/values/persons.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "./context.ts";
import * as persons from "./sql/persons.ts";

const rowsMax = 500;
const callTimeoutMs = 30_000;

/**
 * Empties the bodies of messages of profiles and what receivers answered to them, and cancels what is pending. What
 * comes late of the profiles is not kept. Idempotent.
 */
export async function redact(context: WebhookContext, property: Uuid, profiles: readonly Uuid[]): Promise<void> {
  const { database, clock } = context;
  if (profiles.length === 0) return;
  // Before the messages are read: a message that is made meanwhile is seen here, or sees this.
  await persons.noteRedacted(database, [property, profiles, formatMicros(clock.nowMicros())]);
  let after = nilUuid;
  await inChunks(rowsMax, async (rows) => {
    const page = await persons.pageMessagesOf(database, [property, profiles, after, rows]);
    await empty(
      context,
      property,
      page.map(({ id }) => id),
    );
    after = page.at(-1)?.id ?? after;
    return page;
  });
}

/** Gives messages of events that gained a profile that profile, and empties them if it was redacted meanwhile. */
export async function link(context: WebhookContext, property: Uuid, events: readonly Uuid[]): Promise<void> {
  const { database } = context;
  if (events.length === 0) return;
  const linked = await persons.linkMessages(database, [property, events]);
  const profiles = [...new Set(linked.map(({ profile_id: id }) => id))];
  if (profiles.length === 0) return;
  const redacted = await persons.findRedacted(database, [property, profiles]);
  await redact(
    context,
    property,
    redacted.map(({ profile_id: id }) => id),
  );
}

/**
 * Empties messages of anonymous events that were emptied, as the event service shows them. Whose they are is known
 * there alone.
 */
export async function redactAnonymous(context: WebhookContext, property: Uuid): Promise<void> {
  const { database, events } = context;
  const propertyId = encodeId("prop", property);
  let after = nilUuid;
  await inChunks(rowsMax, async (rows) => {
    const page = await persons.pageAnonymous(database, [property, after, rows]);
    after = page.at(-1)?.id ?? after;
    if (page.length === 0) return page;
    const eventIds = [...new Set(page.map(({ event_id: id }) => encodeId("evt", id)))];
    const found = await events.getEvents({ propertyId, eventIds }, systemCall("webhook", callTimeoutMs));
    const kept = new Set(found.events.flatMap(({ id, propertiesJson }) => (propertiesJson === "{}" ? [] : [id])));
    const emptied = page.filter(({ event_id: id }) => !kept.has(encodeId("evt", id)));
    await empty(
      context,
      property,
      emptied.map(({ id }) => id),
    );
    return page;
  });
}

/** Empties reports of refused writes whose fields or types of events name a person. */
export async function redactReports(context: WebhookContext, property: Uuid, person: Names): Promise<void> {
  const isNamed = personFinder(person);
  const steps = new Steps();
  let after = nilUuid;
  await inChunks(rowsMax, async (rows) => {
    const page = await persons.pageReports(context.database, [property, after, rows]);
    after = page.at(-1)?.id ?? after;
    const named: Uuid[] = [];
    for (const { id, body } of page) {
      await steps.next();
      if (isNamed(body)) named.push(id);
    }
    await empty(context, property, named);
    return page;
  });
}

async function empty({ database, clock }: WebhookContext, property: Uuid, messages: readonly Uuid[]): Promise<void> {
  if (messages.length === 0) return;
  await persons.emptyMessages(database, [property, messages]);
  await persons.cancelDeliveriesOf(database, [property, messages, formatMicros(clock.nowMicros())]);
  await persons.emptyExcerpts(database, [property, messages]);
  await persons.noteEmptied(database, [property]);
}
