/** What the authorization server of the gateways may keep: its kinds and limits. */
import { ArtifactKind } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { isJsonObject, textProblem } from "#shared/json/json.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { missing } from "#shared/values/wording.ts";
import { scopeFaults } from "./apps.ts";
import { tokenHashBytes } from "./token.ts";

export type ArtifactKindName = "code" | "access_token" | "refresh_token" | "interaction" | "pushed_request";

const nameOfKind: Record<ArtifactKind, ArtifactKindName | undefined> = {
  [ArtifactKind.UNSPECIFIED]: undefined,
  [ArtifactKind.CODE]: "code",
  [ArtifactKind.ACCESS_TOKEN]: "access_token",
  [ArtifactKind.REFRESH_TOKEN]: "refresh_token",
  [ArtifactKind.INTERACTION]: "interaction",
  [ArtifactKind.PUSHED_REQUEST]: "pushed_request",
};
const consumable: ReadonlySet<ArtifactKindName | undefined> = new Set(["code", "refresh_token", "pushed_request"]);

/**
 * Of each kind and grant. A used refresh token is remembered until it expires, so that somebody else who has it is
 * noticed. An app that refreshes once an hour leaves 2,160 of them in 90 days, so it never reaches this. One that
 * refreshes 60 times a minute does within 3 hours: from then on its oldest are forgotten, which are refused as before,
 * but end the installation no more. The limit keeps about 10 MB for each installation.
 */
export const artifactsPerGrantMax = 10_000;

const payloadBytesMax = 64 * 1024;
const graceSecondsMax = 600;
/** Longer than any token lives: a refresh token ends 90 days after it was given. */
const lifeMicrosMax = 366 * 24 * 60 * 60 * 1_000_000;

/** What names an artifact. */
export interface ArtifactRef {
  kind: ArtifactKindName;
  idHash: Buffer;
}

/** @throws DaybookError with every fault. */
export function readRef(
  input: { kind: ArtifactKind; idHash: Uint8Array },
  more: readonly FieldError[] = [],
): ArtifactRef {
  const kind = nameOfKind[input.kind];
  const faults: FieldError[] = [];
  if (kind === undefined) faults.push(invalid("kind", "must be one of the kinds"));
  faults.push(...hashFaults("id_hash", input.idHash), ...more);
  if (kind === undefined || faults.length > 0) throw DaybookError.ofFields(faults);
  return { kind, idHash: Buffer.from(input.idHash) };
}

/** Reads what is used. @throws DaybookError with every fault. */
export function readConsumed(input: { kind: ArtifactKind; idHash: Uint8Array; graceSeconds: number }): ArtifactRef {
  const { kind, graceSeconds } = input;
  const faults: FieldError[] = [];
  if (nameOfKind[kind] !== undefined && !consumable.has(nameOfKind[kind])) {
    faults.push(invalid("kind", "must be a code, a refresh token or a pushed request"));
  }
  if (graceSeconds < 0 || graceSeconds > graceSecondsMax) {
    faults.push(invalid("grace_seconds", `must be 0 to ${graceSecondsMax}`));
  }
  return readRef(input, faults);
}

/** What is said of an artifact that is to be kept. */
interface ArtifactInput {
  kind: ArtifactKind;
  idHash: Uint8Array;
  payloadJson: string;
  expiresAt: Micros | undefined;
  grantId?: string | undefined;
  scopes: readonly string[];
  predecessorHash?: Uint8Array | undefined;
}

/** Reads what is to be kept. @throws DaybookError with every fault. */
export function readStored(input: ArtifactInput, now: Micros): ArtifactRef & { expiresAt: Micros } {
  const { expiresAt = 0 } = input;
  return { ...readRef(input, faultsOf(input, now)), expiresAt };
}

/** The faults beside those of its name. */
function faultsOf(input: ArtifactInput, now: Micros): FieldError[] {
  const { payloadJson, expiresAt, grantId, scopes, predecessorHash } = input;
  const kind = nameOfKind[input.kind];
  const faults: FieldError[] = [];
  if (!isPayload(payloadJson)) {
    faults.push(invalid("payload_json", `must be a JSON object of at most ${payloadBytesMax} bytes`));
  }
  if (expiresAt === undefined) faults.push(missing("expires_at", "when it ends"));
  else if (expiresAt <= now || expiresAt > now + lifeMicrosMax) {
    faults.push(invalid("expires_at", "must be in the future, and at most 366 days away"));
  }
  if (kind === undefined) return faults;
  const isToken = kind === "access_token" || kind === "refresh_token";
  if (isToken || kind === "code") {
    if (grantId === undefined) faults.push(missing("grant_id", "the grant of a code or token"));
  } else if (grantId !== undefined) faults.push(invalid("grant_id", "is only of a code or token"));
  if (kind === "access_token") faults.push(...scopeFaults(scopes));
  else if (scopes.length > 0) faults.push(invalid("scopes", "is only of an access token"));
  if (predecessorHash !== undefined) {
    if (isToken) faults.push(...hashFaults("predecessor_hash", predecessorHash));
    else faults.push(invalid("predecessor_hash", "is only of a token"));
  }
  return faults;
}

function isPayload(text: string): boolean {
  if (text.length > payloadBytesMax || Buffer.byteLength(text) > payloadBytesMax) return false;
  try {
    return textProblem(text) === undefined && isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function hashFaults(param: string, hash: Uint8Array): FieldError[] {
  return hash.length === tokenHashBytes ? [] : [invalid(param, `must have ${tokenHashBytes} bytes`)];
}

function invalid(param: string, rule: string): FieldError {
  return { code: "parameter_invalid", message: `\`${param}\` ${rule}.`, param };
}
