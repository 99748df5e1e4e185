/** The texts of a rejected write, which may name a person, and what is left of one that does. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ErrorSchema, type Error as ErrorMessage } from "#proto/daybook/common/v1/error_pb.ts";
import { PayloadState, WritesRejectedSchema, type RejectedWrite } from "#proto/daybook/event/v1/rejected_pb.ts";

const redactedMessage = "The message was deleted with the data of a person.";

/** All texts of a rejected write that a caller may have written. */
export function textsOf({ payload, clientReference, eventType, error }: Partial<RejectedWrite>): string {
  return [payload, clientReference, eventType, ...textsOfError(error)].filter((text) => text !== undefined).join("\n");
}

function textsOfError(error: ErrorMessage | undefined): (string | undefined)[] {
  if (!error) return [];
  return [error, ...error.errors].flatMap(({ message, param }) => [message, param]);
}

/** An error with its code alone. */
export function emptiedError({ code }: Pick<ErrorMessage, "code">): ErrorMessage {
  return create(ErrorSchema, { code, message: redactedMessage });
}

/**
 * Empties the rejected writes of a message of the bus that name a person.
 * @param names whether a text names the person.
 * @returns makes the new message, or undefined for one that names nobody.
 */
export function rejectionsWithout(names: (text: string) => boolean): (payload: Uint8Array) => Uint8Array | undefined {
  return (payload) => {
    const message = fromBinary(WritesRejectedSchema, payload);
    const found = message.writes.filter((write) => names(textsOf(write)));
    if (found.length === 0) return undefined;
    for (const write of found) emptyRejection(write);
    return toBinary(WritesRejectedSchema, message);
  };
}

function emptyRejection(write: RejectedWrite): void {
  write.payloadState = PayloadState.REDACTED;
  write.error = emptiedError({ code: write.error?.code ?? "" });
  delete write.payload;
  delete write.clientReference;
  delete write.eventType;
}
