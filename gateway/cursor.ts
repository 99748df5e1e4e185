/**
 * Cursors: opaque, signed, bound to a property and a query, and good for 7 days.
 * `cur_` and base64url of: 6 bytes of time (seconds since 1970), the position, and 16 bytes of HMAC-SHA-256. A long position is deflated, which
 * the first byte says: of a time it is always 0. So a URL has room for a cursor that holds a filter of many values.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Clock } from "#shared/clock.ts";
import { DaybookError } from "#shared/errors.ts";

/** Makes and reads the cursors of all lists. */
export interface Cursors {
  /**
   * @param scope everything that the cursor is bound to: property, list, filters, sort.
   * @param position where the next page begins; no secret, as the client can read it.
   */
  write(scope: readonly string[], position: string): string;
  /** @throws DaybookError `invalid_cursor` unless it was written for the same scope within 7 days. */
  read(scope: readonly string[], cursor: string): string;
}

const prefix = "cur_";
const timeBytes = 6;
const signatureBytes = 16;
const deflatedMark = 1;
const plainBytesMax = 256;
const ageSecondsMax = 7 * 24 * 60 * 60;

export function createCursors(secret: string, clock: Clock): Cursors {
  const now = (): number => Math.floor(clock.nowMicros() / 1_000_000);
  const sign = (scope: readonly string[], content: Buffer): Buffer =>
    createHmac("sha256", secret)
      .update(`daybook cursor ${JSON.stringify(scope)}`)
      .update(content)
      .digest()
      .subarray(0, signatureBytes);

  return {
    write(scope, position) {
      const time = Buffer.alloc(timeBytes);
      time.writeUIntBE(now(), 0, timeBytes);
      const bytes = Buffer.from(position);
      const isLong = bytes.length > plainBytesMax;
      if (isLong) time[0] = deflatedMark;
      const content = Buffer.concat([time, isLong ? deflateRawSync(bytes) : bytes]);
      return prefix + Buffer.concat([content, sign(scope, content)]).toString("base64url");
    },
    read(scope, cursor) {
      const text = cursor.startsWith(prefix) ? cursor.slice(prefix.length) : "";
      const bytes = Buffer.from(text, "base64url");
      // Decoding is lenient; a cursor is good only as it was written.
      if (bytes.length >= timeBytes + signatureBytes && bytes.toString("base64url") === text) {
        const content = bytes.subarray(0, -signatureBytes);
        const isSigned = timingSafeEqual(sign(scope, content), bytes.subarray(-signatureBytes));
        const age = now() - content.readUIntBE(1, timeBytes - 1);
        const position = content.subarray(timeBytes);
        if (isSigned && age <= ageSecondsMax) {
          // It is signed: what comes out of it was once a position.
          return (content[0] === deflatedMark ? inflateRawSync(position) : position).toString();
        }
      }
      const message = "This cursor is not one of this list, or older than 7 days. Start again without it.";
      throw new DaybookError("invalid_cursor", message, { param: "page[after]" });
    },
  };
}
