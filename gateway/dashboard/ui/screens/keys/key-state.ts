/** What a key is now. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Key } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Tone } from "../../components/page.tsx";

export interface KeyState {
  word: "Active" | "Ending" | "Expired" | "Revoked";
  tone: Tone;
  opens: boolean;
}

export function stateOf(key: Key, now: Date): KeyState {
  if (key.revokedAt) return { word: "Revoked", tone: "neutral", opens: false };
  if (!key.expiresAt) return { word: "Active", tone: "good", opens: true };
  if (timestampDate(key.expiresAt) <= now) return { word: "Expired", tone: "neutral", opens: false };
  return { word: "Ending", tone: "warning", opens: true };
}
