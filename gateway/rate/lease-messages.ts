/** Leases of rate windows as messages of the identity service. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  RateWindow as WindowMessage,
  type Lease,
  type LeaseWishSchema,
  type UnusedRequestsSchema,
} from "#proto/daybook/identity/v1/identity_pb.ts";
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import type { RateWindow } from "./limits.ts";
import type { Grant } from "./share.ts";
import { startOfWindow, windowAt } from "./window-clock.ts";

/** A request for a share. */
export type Wish = MessageInitShape<typeof LeaseWishSchema>;

/** Requests of a share that are given back. */
export type Unused = MessageInitShape<typeof UnusedRequestsSchema>;

export const messageOfWindow = { ordinary: WindowMessage.ORDINARY, backfill: WindowMessage.BACKFILL } as const;

/** @param number of the window. */
export function toUnused(
  { propertyId, callerId }: { propertyId: string; callerId: string },
  window: RateWindow,
  number: number,
  count: number,
): Unused {
  return {
    propertyId,
    keyId: callerId,
    window: messageOfWindow[window],
    startsAt: toTimestamp(startOfWindow(number)),
    count,
  };
}

export function toGrant({ startsAt, granted, left, limit }: Lease): Grant {
  return { number: startsAt ? windowAt(fromTimestamp(startsAt)) : 0, granted, left, limit };
}
