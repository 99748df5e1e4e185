/** Broadcasts that a key or an installation ends or will end, so that gateways ask about it again. */
import { create, toBinary } from "@bufbuild/protobuf";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";

/** Call this after the change is committed. @param callerId TypeID of a key or an installation. */
export function signalEnding(signals: Signals, callerId: string): void {
  const ending = create(KeyEndingSchema, { keyId: callerId.toLowerCase() });
  signals.publish(KeyEndingSchema.typeName, toBinary(KeyEndingSchema, ending));
}
