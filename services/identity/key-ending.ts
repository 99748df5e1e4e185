/** Tells every gateway that a key ends, so that none of them takes it any longer than that. */
import { create, toBinary } from "@bufbuild/protobuf";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/signals.ts";

/** @param endsInMs from now on; 0 when it has ended. */
export function signalEnding(signals: Signals, keyId: string, endsInMs: number): void {
  const ending = create(KeyEndingSchema, { keyId: keyId.toLowerCase(), endsInMs: Math.max(0, Math.floor(endsInMs)) });
  signals.publish(KeyEndingSchema.typeName, toBinary(KeyEndingSchema, ending));
}
