/** Leases shares of the rate windows of callers. */
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { LeaseSchema, RateWindow, type Lease, type LeaseWish } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { isLeasable, isWindowStart, requestsMax } from "./domain/windows.ts";
import { leaseRequests, type WindowName } from "./sql/rate-windows.ts";

/** A window of any key. */
export interface WindowRef {
  name: WindowName;
  startsAt: Micros;
}

/** A lease request for a window. */
export interface Wish extends WindowRef {
  wanted: number;
  limitDefault: number;
  limitUnknown: boolean;
}

export type CallerWindow = WindowRef & { propertyId: Uuid; callerId: Uuid };

// A share is at most 1/4 of the limit, or 1/100 if the gateway does not know the limit.
const knownPart = 4;
const unknownPart = 100;
// Of one authentication.
const wishesMax = 4;

const nameOfWindow: Record<RateWindow, WindowName | undefined> = {
  [RateWindow.UNSPECIFIED]: undefined,
  [RateWindow.ORDINARY]: "ordinary",
  [RateWindow.BACKFILL]: "backfill",
};
/** The windows by their names in SQL. */
export const windowOfName: Record<WindowName, RateWindow> = {
  ordinary: RateWindow.ORDINARY,
  backfill: RateWindow.BACKFILL,
};

/** @throws DaybookError `parameter_invalid` */
export function readWindow(window: RateWindow, startsAt: Timestamp | undefined): WindowRef {
  const name = nameOfWindow[window];
  const micros = startsAt ? fromTimestamp(startsAt) : Number.NaN;
  if (name === undefined) throw invalid("A window is ordinary or backfill.", "window");
  if (!isWindowStart(micros)) throw invalid("A window begins with a minute.", "starts_at");
  return { name, startsAt: micros };
}

/** @throws DaybookError `parameter_invalid` */
export function readWish({ window, startsAt, wanted, limitDefault, limitUnknown }: LeaseWish): Wish {
  if (wanted < 0 || wanted > requestsMax) throw invalid("This is not a number of requests.", "wanted");
  if (limitDefault < 1 || limitDefault > requestsMax) throw invalid("This is not a limit.", "limit_default");
  return { ...readWindow(window, startsAt), wanted, limitDefault, limitUnknown };
}

/**
 * Reads the wishes that come with an authentication.
 * @throws DaybookError `too_many_items`, `parameter_invalid`
 */
export function readWishes(wishes: readonly LeaseWish[]): Wish[] {
  if (wishes.length > wishesMax) {
    throw new DaybookError("too_many_items", `There are at most ${wishesMax} wishes.`, { param: "wishes" });
  }
  return wishes.map(readWish);
}

/** @throws DaybookError `parameter_conflict` if a window is there twice. */
export function checkDistinct(windows: readonly CallerWindow[]): void {
  if (new Set(windows.map(idOf)).size < windows.length) {
    throw new DaybookError("parameter_conflict", "A window is there more than once.");
  }
}

/** Answers each lease request in order, with 0 requests for an unknown caller or an invalid window. */
export async function lease(
  { database, clock }: ServiceContext,
  wishes: readonly (Wish & CallerWindow)[],
): Promise<Lease[]> {
  checkDistinct(wishes);
  const now = clock.nowMicros();
  const granted = wishes.filter(({ startsAt }) => isLeasable(startsAt, now));
  const rows =
    granted.length === 0
      ? []
      : await leaseRequests(database, [
          granted.map((wish) => ({
            property_id: wish.propertyId,
            caller_id: wish.callerId,
            name: wish.name,
            starts_at: wish.startsAt,
            wanted: wish.wanted,
            limit_default: wish.limitDefault,
            part: wish.limitUnknown ? unknownPart : knownPart,
          })),
        ]);
  const rowOf = new Map(
    rows.map((row) => [
      idOf({ propertyId: row.property_id, callerId: row.caller_id, name: row.name, startsAt: row.starts_at }),
      row,
    ]),
  );
  return wishes.map((wish) => {
    const row = rowOf.get(idOf(wish));
    return create(LeaseSchema, {
      window: windowOfName[wish.name],
      startsAt: toTimestamp(wish.startsAt),
      granted: row?.share ?? 0,
      // The limit may be lower now than what was leased before.
      left: row ? Math.max(0, row.requests_max - row.granted) : 0,
      limit: row?.requests_max ?? wish.limitDefault,
    });
  });
}

/** Answers the wishes of one caller, which was authenticated. */
export function leaseTo(
  context: ServiceContext,
  { property_id: propertyId, id: callerId }: { property_id: Uuid; id: Uuid },
  wishes: readonly Wish[],
): Promise<Lease[]> {
  return lease(
    context,
    wishes.map((wish) => ({ propertyId, callerId, ...wish })),
  );
}

function idOf({ propertyId, callerId, name, startsAt }: CallerWindow): string {
  return `${propertyId} ${callerId} ${name} ${startsAt}`;
}

function invalid(message: string, param: string): DaybookError {
  return new DaybookError("parameter_invalid", message, { param });
}
