/** A refused write as the event service is told of it. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RejectedWriteSchema } from "#proto/daybook/event/v1/rejected_pb.ts";
import { fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";

/** Why a write was refused. */
export interface RefusedError {
  code: string;
  message: string;
  param: string | null;
  errors: readonly FieldError[];
}

export type Write = Exclude<MessageInitShape<typeof RejectedWriteSchema>, { $typeName: string }>;

// Beside the texts.
const otherBytes = 1024;
const bytesPerField = 128;
const messageLengthMax = 2_000;

/** At least what it takes in memory and in a call. */
export function sizeOf({ payload, clientReference, eventType, error }: Write): number {
  const { message, param, errors = [] } = error ?? {};
  const texts = [
    payload,
    clientReference,
    eventType,
    message,
    param,
    ...errors.flatMap((field) => [field.message, field.param]),
  ];
  const bytesOfTexts = texts.reduce((sum, text) => sum + (text ? Buffer.byteLength(text) : 0), 0);
  return bytesOfTexts + errors.length * bytesPerField + otherBytes;
}

export function errorMessage({ code, message, param, errors }: RefusedError): Write["error"] {
  return {
    code,
    message: message.slice(0, messageLengthMax),
    param: param?.slice(0, messageLengthMax),
    errors: errors.slice(0, fieldErrorsMax).map((field) => ({
      code: field.code,
      message: field.message.slice(0, messageLengthMax / 4),
      param: field.param?.slice(0, messageLengthMax / 4),
    })),
  };
}
