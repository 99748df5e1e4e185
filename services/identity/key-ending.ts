/** Tells every gateway that a key ends or will end, so that each asks again until when it is good. */
import { create, toBinary } from "@bufbuild/protobuf";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";

/** To be called once what ends the key is committed. */
export function signalEnding(signals: Signals, keyId: string): void {
  const ending = create(KeyEndingSchema, { keyId: keyId.toLowerCase() });
  signals.publish(KeyEndingSchema.typeName, toBinary(KeyEndingSchema, ending));
}
