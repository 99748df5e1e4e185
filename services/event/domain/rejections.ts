/** Rejected writes as they are counted and kept. */
import { hash } from "node:crypto";
import type { Error as ErrorMessage } from "#proto/daybook/common/v1/error_pb.ts";
import {
  PayloadState,
  RejectionSeverity,
  type RejectedWrite,
  type RejectedWriteCount,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError, fieldErrorsMax } from "#shared/values/errors.ts";
import { decodeId, toUuid, type Uuid } from "#shared/values/ids.ts";
import { cutText, groupParam, isWarning, payloadBytesMax } from "#shared/values/rejections.ts";
import { fromTimestamp } from "#shared/values/time.ts";

/** What makes a group. */
export interface Group {
  operation: string;
  code: string;
  param: string | null;
  event_type: string | null;
  key_id: string;
  severity: RejectionSeverity;
}

/** Refused writes of a group that are counted together. */
export interface Counted {
  /** Names them for good. */
  id: Uuid;
  group: Group;
  keyName: string;
  count: number;
  firstAt: Micros;
  lastAt: Micros;
  /** The write, if it is told by itself. */
  write?: { message: RejectedWrite; payload: Buffer | undefined } | undefined;
}

const nameLengthMax = 255;
const messageLengthMax = 2_000;
const fieldMessageLengthMax = 500;
const typePattern = /^[a-z0-9][a-z0-9_.]*$/;
const minuteMicros = 60_000_000;
const dayMicros = 24 * 60 * minuteMicros;

export function minuteOf(time: Micros): Micros {
  return Math.floor(time / minuteMicros) * minuteMicros;
}

export function dayOf(time: Micros): Micros {
  return Math.floor(time / dayMicros) * dayMicros;
}

/** Reads a write that was told by itself. @throws DaybookError `parameter_missing` */
export function readWrite(write: RejectedWrite): Counted {
  const { error, rejectedAt } = write;
  if (!error || !rejectedAt) {
    throw new DaybookError("parameter_missing", "A rejected write has an error and a time.", { param: "writes" });
  }
  const at = fromTimestamp(rejectedAt);
  const cut = cutError(error);
  const bytes = write.payload === undefined ? undefined : Buffer.from(write.payload);
  const payload = bytes && cutText(bytes, payloadBytesMax);
  const isCut = write.payloadState === PayloadState.TRUNCATED || payload?.length !== bytes?.length;
  const payloadState =
    payload === undefined ? PayloadState.NOT_KEPT : isCut ? PayloadState.TRUNCATED : PayloadState.KEPT;
  const message: RejectedWrite = {
    ...write,
    error: cut,
    payloadState,
    severity: severityOf(cut.code),
    clientReference: write.clientReference === undefined ? undefined : plain(write.clientReference),
    eventType: readType(write.eventType) ?? undefined,
    keyName: plain(write.keyName),
  };
  return {
    id: decodeId("rej", write.id, "writes.id"),
    group: groupOf({ ...write, code: cut.code, param: cut.param }),
    keyName: message.keyName,
    count: 1,
    firstAt: at,
    lastAt: at,
    write: { message, payload },
  };
}

/** Reads a count of writes. @throws DaybookError */
export function readCount({ id, group }: RejectedWriteCount): Counted {
  const count = Number(group?.count ?? 0);
  if (!group?.firstAt || !group.lastAt || count < 1) {
    throw new DaybookError("parameter_missing", "A count has a group with a number and times.", { param: "counts" });
  }
  return {
    id: toUuid(id),
    group: groupOf(group),
    keyName: plain(group.keyName),
    count,
    firstAt: fromTimestamp(group.firstAt),
    lastAt: fromTimestamp(group.lastAt),
  };
}

/** The group without the fields that callers choose: counts of a property with too many groups go there. */
export function coarser(group: Group): Group {
  return { ...group, param: null, event_type: null };
}

/** The key of a group. */
export function digestOf({ operation, code, param, event_type: type, key_id: key, severity }: Group): Buffer {
  return hash("sha256", JSON.stringify([operation, code, param, type, key, severity]), "buffer").subarray(0, 16);
}

function groupOf(of: {
  operation: string;
  code: string;
  param?: string | undefined;
  eventType?: string | undefined;
  keyId: string;
}): Group {
  const { operation, code, param, eventType, keyId } = of;
  return {
    operation: plain(operation),
    code: plain(code),
    param: groupParam(param),
    event_type: readType(eventType),
    key_id: plain(keyId),
    severity: severityOf(code),
  };
}

function severityOf(code: string): RejectionSeverity {
  return isWarning(code) ? RejectionSeverity.WARNING : RejectionSeverity.ERROR;
}

function readType(type: string | undefined): string | null {
  return type !== undefined && type.length <= nameLengthMax && typePattern.test(type) ? type : null;
}

function cutError(error: ErrorMessage): ErrorMessage {
  return {
    ...error,
    message: plain(error.message, messageLengthMax),
    param: error.param === undefined ? undefined : plain(error.param, messageLengthMax),
    errors: error.errors.slice(0, fieldErrorsMax).map((field) => ({
      ...field,
      message: plain(field.message, fieldMessageLengthMax),
      param: field.param === undefined ? undefined : plain(field.param, fieldMessageLengthMax),
    })),
  };
}

/** A text that PostgreSQL can store. */
function plain(text: string, lengthMax = nameLengthMax): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll("\0", "\ufffd");
}
