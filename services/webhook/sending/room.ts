/** The memory that bodies of messages may take that wait to be sent. */
import type { Uuid } from "#shared/values/ids.ts";

const bytesMax = 64 * 1024 * 1024;
// So that no property keeps the others waiting for room.
const bytesPerPropertyMax = bytesMax / 8;

export class Room {
  #bytes = 0;
  readonly #ofProperty = new Map<Uuid, number>();

  /** Whether a property may have one more in memory. */
  has(property: Uuid): boolean {
    return this.#bytes < bytesMax && (this.#ofProperty.get(property) ?? 0) < bytesPerPropertyMax;
  }

  take({ property, body }: { property: Uuid; body: string }): void {
    this.#add(property, body.length);
  }

  release({ property, body }: { property: Uuid; body: string }): void {
    this.#add(property, -body.length);
  }

  #add(property: Uuid, more: number): void {
    this.#bytes += more;
    const own = (this.#ofProperty.get(property) ?? 0) + more;
    if (own === 0) this.#ofProperty.delete(property);
    else this.#ofProperty.set(property, own);
  }
}
