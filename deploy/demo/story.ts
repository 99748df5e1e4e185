/** What happens in the store: visits, day by day, and what comes of each. The same settings tell the same story. */
import { clockAhead, dayMs, hours, saleOf, visitsByDay } from "./calendar.ts";
import { products, type Product } from "./catalog.ts";
import { createPeople, type Person } from "./people.ts";
import { createDraws, type Draws } from "./random.ts";

export interface StorySettings {
  seed: number;
  people: number;
  days: number;
  /** The end of the story. */
  untilMs: number;
}

/** An event as the API takes it. */
export interface StoreEvent {
  type: EventType;
  identifier: { type: string; value: string };
  properties: object;
  value?: string;
  currency?: string;
  occurred_at: string;
  dedupe_id?: string;
}

/** An event of the story. */
export interface Happening {
  event: StoreEvent;
  atMs: number;
  isAnonymous: boolean;
}

export const eventTypes = {
  "product.viewed": "Somebody looked at a product",
  "cart.updated": "Products were put into the cart",
  "checkout.started": "Somebody began to check out; the value is that of the cart",
  "order.completed": "Paid orders; the value is what was paid",
  "order.shipped": "Orders that left the warehouse",
  "order.refunded": "Money that went back; the value is below zero",
  "newsletter.subscribed": "Sign-ups for the newsletter",
  "support.ticket.opened": "Customers who need help",
  "support.ticket.closed": "Tickets that are done, with the customer's rating",
} as const;

export type EventType = keyof typeof eventTypes;

const visitsOfPersonAYear = 9;
/** In a short story too. */
const visitsOfPersonMin = 3;
const daysOfYear = 365;
/** Of the people, who came before the story begins. */
const regulars = 0.3;
const hourMs = 3_600_000;
const minuteMs = 60_000;

export const startOf = ({ untilMs, days }: StorySettings): number => (Math.floor(untilMs / dayMs) - days + 1) * dayMs;

/** Tells the story. @returns the people as they are at its end. */
export function* tellStory(settings: StorySettings): Generator<Happening, Person[]> {
  const draws = createDraws(settings.seed);
  const people = createPeople(settings.people, draws);
  const early = Math.ceil(people.length * regulars);
  for (const person of people.slice(0, early)) person.isKnown = true;
  const start = startOf(settings);
  const visitsOfPerson = Math.max(visitsOfPersonMin, (visitsOfPersonAYear * settings.days) / daysOfYear);
  const total = Math.ceil(settings.people * visitsOfPerson);
  const teller = new Teller(draws, settings.untilMs);
  let [arrived, visits] = [early, 0];
  for (const [day, count] of visitsByDay(start, settings.days, total).entries()) {
    for (let visit = 0; visit < count; visit++) {
      visits++;
      const due = early + Math.floor(((people.length - early) * visits) / total);
      const person = arrived < due ? people[arrived++] : pickReturning(people, arrived, draws);
      if (person) yield* teller.visit(person, start + day * dayMs);
    }
  }
  return people;
}

function pickReturning(people: readonly Person[], arrived: number, draws: Draws): Person | undefined {
  for (;;) {
    const person = people[draws.integer(0, arrived - 1)];
    if (!person || draws.chance(person.loyalty)) return person;
  }
}

interface Line {
  product: Product;
  quantity: number;
}

class Teller {
  readonly #draws: Draws;
  readonly #untilMs: number;
  #orders = 10_000;
  #tickets = 500;
  #events = 0;

  constructor(draws: Draws, untilMs: number) {
    this.#draws = draws;
    this.#untilMs = untilMs;
  }

  /** Somebody comes, looks, and perhaps buys. @param midnight of the day, UTC. */
  *visit(person: Person, midnight: number): Generator<Happening> {
    const draws = this.#draws;
    const local = draws.weighted(hours) * hourMs + draws.integer(0, hourMs - 1);
    let atMs = midnight + local - clockAhead(midnight, person.market.timezone);
    const sale = saleOf(midnight);
    const seen = this.#products(person, midnight);
    for (const product of seen) {
      const { id, name, category } = product;
      yield* this.#tell(person, atMs, "product.viewed", {
        product_id: id,
        name,
        category,
        ...this.#prices(person, product),
      });
      atMs += draws.integer(5_000, 4 * minuteMs);
    }
    const cartChance = (person.isKnown ? 0.36 : 0.2) * Math.sqrt(sale);
    if (!draws.chance(cartChance)) {
      yield* this.#mayLeaveAddress(person, atMs, "banner", 0.12);
      return;
    }
    const lines = seen
      .slice(-draws.integer(1, 3))
      .map((product): Line => ({ product, quantity: draws.weighted([0, 7, 2, 1]) }));
    yield* this.#tell(person, atMs, "cart.updated", { items: toItems(person, lines) });
    if (!draws.chance(0.66)) return;
    yield* this.#buy(person, atMs + draws.integer(20_000, 10 * minuteMs), lines, sale > 1);
  }

  *#buy(person: Person, atMs: number, lines: readonly Line[], isSale: boolean): Generator<Happening> {
    const draws = this.#draws;
    // Here they say who they are, some of them with another email than before.
    const isOther = person.isKnown && person.otherEmail !== undefined && draws.chance(0.5);
    person.isKnown = true;
    person.usedOtherEmail ||= isOther;
    const cents = lines.reduce((sum, { product, quantity }) => sum + centsFor(person, product) * quantity, 0);
    const items = toItems(person, lines);
    yield* this.#tell(person, atMs, "checkout.started", { items }, { cents, isOther });
    if (!draws.chance(0.8)) return;
    const discount = isSale ? 0.2 : person.isSubscriber && draws.chance(0.2) ? 0.1 : 0;
    const paid = Math.round(cents * (1 - discount));
    const order = {
      order_id: String(++this.#orders),
      items,
      discount_code: discount === 0 ? null : isSale ? "SALE20" : "NEWS10",
      payment_method: draws.pick(["card", "card", "paypal", "invoice"]),
      shipping: { country: person.market.country, city: person.place.city },
    };
    person.orders++;
    const orderedMs = atMs + draws.integer(30_000, 5 * minuteMs);
    yield* this.#tell(person, orderedMs, "order.completed", order, {
      cents: paid,
      isOther,
      dedupe: `order-${order.order_id}`,
    });
    yield* this.#mayLeaveAddress(person, orderedMs + minuteMs, "checkout", 0.35);
    yield* this.#afterwards(person, orderedMs, order.order_id, paid);
  }

  *#afterwards(person: Person, orderedMs: number, orderId: string, paid: number): Generator<Happening> {
    const draws = this.#draws;
    const shippedMs = orderedMs + draws.integer(4 * hourMs, 2 * dayMs);
    const carrier = draws.pick(["DHL", "DPD", "Royal Mail", "La Poste"]);
    const order = { order_id: orderId };
    yield* this.#tell(person, shippedMs, "order.shipped", { ...order, carrier }, { isServer: true });
    if (draws.chance(0.06)) {
      const isPart = draws.chance(0.4);
      const reason = draws.pick(["damaged", "not as described", "changed my mind", "too late"]);
      const more = { cents: -(isPart ? Math.ceil(paid / 2) : paid), isServer: true };
      const refundedMs = shippedMs + draws.integer(3 * dayMs, 20 * dayMs);
      yield* this.#tell(person, refundedMs, "order.refunded", { ...order, reason }, more);
    }
    if (!draws.chance(0.07)) return;
    const ticket = { ticket_id: `T-${++this.#tickets}`, ...order };
    const openedMs = shippedMs + draws.integer(dayMs, 6 * dayMs);
    const topic = draws.pick(["delivery", "delivery", "damage", "invoice", "product"]);
    yield* this.#tell(person, openedMs, "support.ticket.opened", { ...ticket, topic });
    const rating = draws.weighted([0, 1, 1, 2, 5, 8]);
    const closedMs = openedMs + draws.integer(hourMs, 3 * dayMs);
    yield* this.#tell(person, closedMs, "support.ticket.closed", { ...ticket, rating }, { isServer: true });
  }

  *#mayLeaveAddress(person: Person, atMs: number, form: string, chance: number): Generator<Happening> {
    if (person.isSubscriber || !this.#draws.chance(chance)) return;
    person.isSubscriber = person.isKnown = true;
    yield* this.#tell(person, atMs, "newsletter.subscribed", { form });
  }

  *#tell(
    person: Person,
    atMs: number,
    type: EventType,
    properties: object,
    { cents, isOther = false, isServer = false, dedupe }: Details = {},
  ): Generator<Happening> {
    // The microseconds make each event one of its own.
    const micros = String(++this.#events % 1000).padStart(3, "0");
    if (atMs > this.#untilMs) return;
    person.wasAnonymous ||= !person.isKnown;
    const event: StoreEvent = {
      type,
      identifier: identifierOf(person, isOther, isServer),
      properties,
      ...(cents === undefined ? {} : { value: toDecimal(cents), currency: person.market.currency }),
      occurred_at: new Date(atMs).toISOString().replace("Z", `${micros}Z`),
      ...(dedupe === undefined ? {} : { dedupe_id: dedupe }),
    };
    yield { event, atMs, isAnonymous: !person.isKnown };
  }

  /** What a visitor looks at: mostly of the category that they like, and gifts before Christmas. */
  #products(person: Person, midnight: number): Product[] {
    const draws = this.#draws;
    const month = new Date(midnight).getUTCMonth() + 1;
    const categories = [...new Set(products.map(({ category }) => category))];
    const favourite = categories[person.taste];
    const weights = products.map(({ category }) => {
      const season = category === "gifts" ? (month >= 11 ? 3 : 0.5) : 1;
      return season * (category === favourite ? 4 : 1);
    });
    return Array.from({ length: draws.integer(1, 6) }, () => products[draws.weighted(weights)] as Product);
  }

  #prices(person: Person, product: Product): object {
    return { price: toDecimal(centsFor(person, product)), currency: person.market.currency };
  }
}

interface Details {
  /** In the currency of the person. */
  cents?: number;
  /** Under the other email. */
  isOther?: boolean;
  /** The warehouse knows customers by the store's own ids. */
  isServer?: boolean;
  dedupe?: string;
}

function identifierOf(person: Person, isOther: boolean, isServer: boolean): StoreEvent["identifier"] {
  const { email, otherEmail, anonymousId, externalId, isKnown } = person;
  if (!isKnown) return { type: "anonymous_id", value: anonymousId };
  if (isServer && externalId !== undefined) return { type: "external_id", value: externalId };
  return { type: "email", value: isOther ? (otherEmail ?? email) : email };
}

function centsFor({ market }: Person, { cents }: Product): number {
  return Math.round((cents * market.rate) / 10) * 10;
}

function toItems(person: Person, lines: readonly Line[]): object[] {
  return lines.map(({ product: { id, name, ...product }, quantity }) => {
    const price = toDecimal(centsFor(person, { id, name, ...product }));
    return { sku: id, name, quantity, price };
  });
}

/** Cents as decimal text, such as -24.95. */
function toDecimal(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, "0");
  return `${cents < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
