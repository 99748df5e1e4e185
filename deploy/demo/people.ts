/** The people of the store: who they are, and when they first come. */
import { firstNames, lastNames, markets, type Market } from "./catalog.ts";
import type { Draws } from "./random.ts";

export interface Person {
  index: number;
  firstName: string;
  lastName: string;
  email: string;
  /** Under which some orders come by mistake. Both profiles are merged in the end. */
  otherEmail: string | undefined;
  anonymousId: string;
  externalId: string | undefined;
  phone: string | undefined;
  market: Market;
  place: Market["cities"][number];
  /** How often they come back, from 0 to 1. */
  loyalty: number;
  /** Index of a category that they like. */
  taste: number;
  /** Whether the store knows who it is. Changes as the story goes on. */
  isKnown: boolean;
  isSubscriber: boolean;
  /** Whether some events are under the anonymous id. */
  wasAnonymous: boolean;
  /** Whether there is a profile under the other email. */
  usedOtherEmail: boolean;
  orders: number;
}

const domains = ["example.com", "example.net", "example.org"];
const shares = { other: 0.15, external: 0.4, phone: 0.15 };
const tastes = 5;

export function createPeople(count: number, draws: Draws): Person[] {
  const given = new Map<Market, number>();
  /** A number that no other person has, as long as there are some. */
  const newPhone = (market: Market): string | undefined => {
    const { prefix, first, digits, count: phonesMax } = market.phones;
    const next = given.get(market) ?? 0;
    given.set(market, next + 1);
    return next < phonesMax ? prefix + String(first + next).padStart(digits, "0") : undefined;
  };
  return Array.from({ length: count }, (_none, index) => {
    const [firstName, lastName] = [draws.pick(firstNames), draws.pick(lastNames)];
    const market = markets[draws.weighted(markets.map(({ weight }) => weight))] as Market;
    const name = `${firstName}.${lastName}`.toLowerCase();
    // The number makes it theirs alone.
    const number = index + 1;
    return {
      index,
      firstName,
      lastName,
      email: `${name}${number}@${draws.pick(domains)}`,
      otherEmail: draws.chance(shares.other) ? `${lastName.toLowerCase()}.${number}@office.example.com` : undefined,
      anonymousId: `anon-${number.toString(36)}-${draws.integer(0, 0x7fff_ffff).toString(36)}`,
      externalId: draws.chance(shares.external) ? `customer-${1000 + number}` : undefined,
      phone: draws.chance(shares.phone) ? newPhone(market) : undefined,
      market,
      place: draws.pick(market.cities),
      // Most come seldom, and a few often.
      loyalty: 0.03 + 0.97 * draws.fraction() ** 5,
      taste: draws.integer(0, tastes - 1),
      isKnown: false,
      isSubscriber: false,
      wasAnonymous: false,
      usedOtherEmail: false,
      orders: 0,
    };
  });
}

/** The attributes that the store keeps of a person. */
export function attributesOf(person: Person): object {
  const { firstName, lastName, market, orders, isSubscriber } = person;
  const tier = ["new", "bronze", "silver", "gold"][Math.min(3, Math.ceil(orders / 3))];
  return {
    first_name: firstName,
    last_name: lastName,
    language: { DE: "de", FR: "fr" }[market.country] ?? "en",
    loyalty_tier: tier,
    orders,
    newsletter: isSubscriber,
  };
}
