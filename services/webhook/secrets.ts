/** The secrets and headers of endpoints, sealed each for its own place. */
import type { Sealing } from "#shared/values/sealing.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Header } from "./domain/endpoint-fields.ts";

// The secret before has the same place, so that a rotation moves it as it is.
const secretPlace = (endpoint: Uuid): string[] => ["webhook.endpoints", endpoint, "secret"];
const headersPlace = (endpoint: Uuid): string[] => ["webhook.endpoints", endpoint, "headers"];
const appSecretPlace = (app: Uuid): string[] => ["webhook.app_secrets", app, "secret"];

export function sealSecret(sealing: Sealing, endpoint: Uuid, secret: string): Buffer {
  return sealing.seal(secretPlace(endpoint), secret);
}

export function openSecret(sealing: Sealing, endpoint: Uuid, sealed: Uint8Array): string {
  return sealing.open(secretPlace(endpoint), sealed);
}

export function sealAppSecret(sealing: Sealing, app: Uuid, secret: string): Buffer {
  return sealing.seal(appSecretPlace(app), secret);
}

export function openAppSecret(sealing: Sealing, app: Uuid, sealed: Uint8Array): string {
  return sealing.open(appSecretPlace(app), sealed);
}

/** @returns null for no headers. */
export function sealHeaders(sealing: Sealing, endpoint: Uuid, headers: readonly Header[]): Buffer | null {
  return headers.length === 0 ? null : sealing.seal(headersPlace(endpoint), JSON.stringify(headers));
}

export function openHeaders(sealing: Sealing, endpoint: Uuid, sealed: Uint8Array | null): Header[] {
  return sealed === null ? [] : (JSON.parse(sealing.open(headersPlace(endpoint), sealed)) as Header[]);
}
