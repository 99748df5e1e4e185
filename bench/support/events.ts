/** Events for all contestants, the same in every run and in the same order. */

/** The body of POST /v1/events. */
export interface EventBody {
  type: string;
  identifier: { type: string; value: string };
  properties: object;
  value: string;
  currency: string;
}

/** Number of different people. */
export const emailsMax = 10_000;

const types = ["order.completed", "order.refunded", "cart.updated", "checkout.started", "subscription.renewed"];
const plans = ["basic", "plus", "pro"];
const seed = 20_260_501;

/** Creates events of about 150 bytes. The first 10,000 have 10,000 different identifiers. */
export function makeEvents(count: number): EventBody[] {
  const random = createRandom(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  return Array.from({ length: count }, (_, index) => ({
    type: types[pick(types.length)] ?? "",
    // The step is coprime to the pool, so that neighbours are people who signed up at different times.
    identifier: { type: "email", value: `person${(index * 7919) % emailsMax}@example.com` },
    properties: { order_id: `o${pick(1_000_000)}`, items: 1 + pick(9), plan: plans[pick(plans.length)] },
    value: `${pick(500)}.${10 + pick(90)}`,
    currency: "EUR",
  }));
}

/** The generator mulberry32, because it is small and the same everywhere. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}
