/** Broadcasts that sessions of a member ended, so that gateways ask for theirs again. */
import { create, toBinary } from "@bufbuild/protobuf";
import { SessionEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";

/** Call this after the change is committed. */
export function signalSessionEnding(signals: Signals, memberId: Uuid): void {
  const ending = create(SessionEndingSchema, { memberId: encodeId("mem", memberId) });
  signals.publish(SessionEndingSchema.typeName, toBinary(SessionEndingSchema, ending));
}
