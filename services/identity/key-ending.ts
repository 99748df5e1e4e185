/** Broadcasts that a key ends or will end, so that gateways read its expiry again. */
import { create, toBinary } from "@bufbuild/protobuf";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";

/** Call this after the change is committed. */
export function signalEnding(signals: Signals, keyId: string): void {
  const ending = create(KeyEndingSchema, { keyId: keyId.toLowerCase() });
  signals.publish(KeyEndingSchema.typeName, toBinary(KeyEndingSchema, ending));
}
