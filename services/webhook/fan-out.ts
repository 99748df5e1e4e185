/** Makes the messages of what happens, and a delivery for each endpoint that wants one. */
import type { Queryable } from "#shared/database/postgres.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "./context.ts";
import { deliveryIdOf, render, wants, wantsType, type Happening, type Subscriber } from "./domain/happening.ts";
import type { OfferedDelivery } from "./sending/lane.ts";
import { findSubscribers, storeMessages, type MessageRow, type NewDeliveryRow } from "./sql/messages.ts";

/** The enabled endpoints of properties. */
export type Subscribers = ReadonlyMap<Uuid, PropertySubscribers>;

export interface PropertySubscribers {
  livemode: boolean;
  endpoints: readonly Subscriber[];
}

// Of one statement.
const rowsMax = 500;
const bytesMax = 4 * 1024 * 1024;

/** Looks up the endpoints of properties. Those without any are left out. */
export async function subscribersOf(
  { database }: Pick<WebhookContext, "database">,
  properties: Iterable<Uuid>,
): Promise<Subscribers> {
  const wanted = [...new Set(properties)];
  const rows = wanted.length === 0 ? [] : await findSubscribers(database, [wanted]);
  const byProperty = Map.groupBy(rows, ({ property_id: property }) => property);
  return new Map(
    [...byProperty].map(([property, endpoints]) => [
      property,
      { livemode: endpoints[0]?.livemode === true, endpoints },
    ]),
  );
}

/** Whether any endpoint of a property wants one of some types. */
export function isWanted(subscribers: Subscribers, property: Uuid, types: readonly string[]): boolean {
  const endpoints = subscribers.get(property)?.endpoints ?? [];
  return endpoints.some((endpoint) => types.some((type) => wantsType(endpoint, type)));
}

/** Stores the messages of what happens, and their deliveries. Done again, it changes nothing. */
export async function fanOut(
  context: WebhookContext,
  happenings: readonly Happening[],
  known?: Subscribers,
): Promise<void> {
  const subscribers =
    known ??
    (await subscribersOf(
      context,
      happenings.map(({ property }) => property),
    ));
  const steps = new Steps();
  for (const [property, some] of Map.groupBy(happenings, (happening) => happening.property)) {
    const found = subscribers.get(property);
    if (!found) continue;
    const { lanes } = context;
    const batch = newBatch(context, property, { firstDueAt: lanes.firstDueAt, onMade: lanes.offer });
    for (const happening of some) {
      await steps.next();
      const endpoints = found.endpoints.filter((endpoint) => wants(endpoint, happening));
      for (const [revision, those] of Map.groupBy(endpoints, (endpoint) => endpoint.revision)) {
        const deliveries = those.map(({ id }) => ({ id: deliveryIdOf(happening.id, id), endpoint: id }));
        await batch.add(happening, found.livemode, revision, deliveries, "live");
      }
    }
    await batch.store();
  }
}

/** How deliveries are handed on. */
interface Handing {
  /** When new deliveries of an endpoint are due; at once by default. */
  firstDueAt?: (property: Uuid, endpoint: Uuid, count: number) => Micros;
  /** Called with deliveries that were made, and not with those that were there already. */
  onMade: (made: readonly OfferedDelivery[]) => void;
}

/** Gathers messages and deliveries of a property, and stores them in statements of a limited size. */
export function newBatch(
  { database, clock }: { database: Queryable; clock: Clock },
  property: Uuid,
  { firstDueAt = () => clock.nowMicros(), onMade }: Handing,
) {
  let messages: MessageRow[] = [];
  let deliveries: Omit<NewDeliveryRow, "due_at">[] = [];
  let bytes = 0;

  async function store(): Promise<void> {
    if (deliveries.length === 0) return;
    const counts = Map.groupBy(deliveries, ({ endpoint_id: endpoint }) => endpoint);
    const dueAts = new Map(
      [...counts].map(([endpoint, some]) => [endpoint, firstDueAt(property, endpoint, some.length)]),
    );
    const now = clock.nowMicros();
    const rows = deliveries.map((delivery) => ({ ...delivery, due_at: dueAts.get(delivery.endpoint_id) ?? now }));
    const bodies = new Map(messages.map(({ id, revision, body }) => [`${id} ${revision}`, body]));
    const made = await storeMessages(database, [property, formatMicros(now), messages, rows]);
    [messages, deliveries, bytes] = [[], [], 0];
    const isMade = new Set(made.map(({ id }) => id));
    onMade(
      rows
        .filter(({ id }) => isMade.has(id))
        .map(({ id, endpoint_id: endpoint, message_id: messageId, revision, due_at: dueAt }) => {
          return { property, endpoint, id, messageId, body: bodies.get(`${messageId} ${revision}`) ?? "", dueAt };
        }),
    );
  }

  return {
    /** Adds a message in a revision, and deliveries of it. */
    async add(
      happening: Happening,
      livemode: boolean,
      revision: string,
      to: readonly { id: Uuid; endpoint: Uuid }[],
      trigger: "live" | "replay",
    ): Promise<void> {
      const body = render(happening, livemode, revision);
      const { id, type, eventId = null, profileId = null } = happening;
      messages.push({ id, revision, type, event_id: eventId, profile_id: profileId, body });
      for (const { id: deliveryId, endpoint } of to) {
        deliveries.push({ id: deliveryId, endpoint_id: endpoint, message_id: id, revision, type, trigger });
      }
      bytes += body.length;
      if (deliveries.length >= rowsMax || bytes >= bytesMax) await store();
    },
    /** Stores what was added. */
    store,
  };
}
