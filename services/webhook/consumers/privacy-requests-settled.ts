import { fromBinary } from "@bufbuild/protobuf";
import { PrivacyRequestSettledSchema } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import type { WebhookContext } from "../context.ts";
import { fanOut } from "../fan-out.ts";
import { ofPrivacyRequest } from "../happenings.ts";

/** Makes messages of privacy requests that are completed or have failed. */
export function privacyRequestsSettled(context: WebhookContext): BusHandler {
  return async (payloads) => {
    const now = context.clock.nowMicros();
    const settled = payloads.map(({ payload }) => fromBinary(PrivacyRequestSettledSchema, payload));
    await fanOut(
      context,
      settled.flatMap((message) => ofPrivacyRequest(message, now) ?? []),
    );
  };
}
