/** What happens in a property, and who wants to know of it. */
import type { Micros } from "#shared/values/clock.ts";
import { deriveUuid, encodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { allTypes, type WebhookTypeName } from "#shared/values/webhook-types.ts";

/** What one message tells of. */
export interface Happening {
  property: Uuid;
  type: WebhookTypeName;
  /** Of the message: made of the type and the source, so that what happened once is one message. */
  id: Uuid;
  /** When it happened. */
  at: Micros;
  /** The data as JSON. */
  data: () => string;
  /** The data of a message that would be too large, and what it lacks. */
  shorter?: { omitted: string; data: () => string };
  /** The event that it tells of. */
  eventId?: Uuid | undefined;
  /** The profile whose data, or that of its holder, it may bring about. */
  profileId?: Uuid | undefined;
  /** What filters look at; only of events. */
  event?: { type: string; source: string };
  /** Only for this endpoint. */
  onlyEndpoint?: Uuid;
  /** Not for this endpoint. */
  exceptEndpoint?: Uuid;
}

/** An endpoint that messages may be for. */
export interface Subscriber {
  id: Uuid;
  types: readonly string[];
  event_types: readonly string[];
  sources: readonly string[];
  revision: string;
}

// Above this a message goes without what can be read by its id.
const bodyBytesMax = 64 * 1024;
const prefixEnd = ".*";

/** The id of the message of a type about a source. */
export function messageIdOf(type: WebhookTypeName, source: Uuid): Uuid {
  return deriveUuid(source, type);
}

/** The id of the delivery of a message to an endpoint, as it happens. */
export function deliveryIdOf(message: Uuid, endpoint: Uuid): Uuid {
  return deriveUuid(message, endpoint);
}

/** Whether an endpoint wants a type of messages. */
export function wantsType({ types }: Pick<Subscriber, "types">, type: string): boolean {
  return types.includes(type) || types.includes(allTypes);
}

/** Whether a message is for an endpoint. */
export function wants(subscriber: Subscriber, { type, event, onlyEndpoint, exceptEndpoint }: Happening): boolean {
  if (onlyEndpoint !== undefined) return subscriber.id === onlyEndpoint;
  if (subscriber.id === exceptEndpoint || !wantsType(subscriber, type)) return false;
  return event === undefined || passes(subscriber, event);
}

function passes({ event_types: names, sources }: Subscriber, event: { type: string; source: string }): boolean {
  if (sources.length > 0 && !sources.includes(event.source)) return false;
  return names.length === 0 || names.some((name) => matches(name, event.type));
}

function matches(name: string, type: string): boolean {
  return name === type || (name.endsWith(prefixEnd) && type.startsWith(name.slice(0, -1)));
}

/** Renders a message in a revision. The data has looked the same in every revision so far. */
export function render(happening: Happening, livemode: boolean, revision: string): string {
  const { property, type, id, at, data, shorter } = happening;
  const envelope =
    `{"id":"${encodeId("whm", id)}","object":"webhook_message","type":"${type}","timestamp":"${formatMicros(at)}"` +
    `,"livemode":${livemode},"property_id":"${encodeId("prop", property)}","revision":"${revision}","data":`;
  const whole = `${envelope}${data()}}`;
  if (!shorter || Buffer.byteLength(whole) <= bodyBytesMax) return whole;
  return `${envelope}${shorter.data()},"omitted":["${shorter.omitted}"]}`;
}
