/** What profiles are called. Lists load this, and nothing that reads JSON as a tree. */
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";

/** Attributes that stores use for the name of a person, the most telling first. */
const wholeNames = ["name", "full_name", "fullName", "display_name", "displayName", "$name"];
const partNames = [
  ["first_name", "last_name"],
  ["firstName", "lastName"],
  ["$first_name", "$last_name"],
  ["given_name", "family_name"],
] as const;

const nameLengthMax = 80;
const names = new WeakMap<Profile, string | undefined>();

/** The name of a person, if attributes have one that can be seen. */
export function nameOf(profile: Profile): string | undefined {
  if (!names.has(profile)) names.set(profile, readName(profile.attributesJson));
  return names.get(profile);
}

function readName(attributesJson: string): string | undefined {
  // Lists have many profiles: most are not parsed, and none as a tree.
  if (!/name/i.test(attributesJson)) return undefined;
  const attributes = new Map(
    Object.entries(JSON.parse(attributesJson) as Record<string, unknown>).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
  const candidates = [
    ...wholeNames.map((name) => attributes.get(name) ?? ""),
    ...partNames.map((parts) => parts.flatMap((part) => attributes.get(part) ?? []).join(" ")),
  ];
  // Text of spaces and marks only would be a link that nobody sees.
  const found = candidates.map((text) => text.trim()).find((text) => /[\p{L}\p{N}]/u.test(text));
  return found !== undefined && found.length > nameLengthMax ? `${found.slice(0, nameLengthMax)}…` : found;
}

/** What a profile is called on the screen: its name, else an identifier as it is shown, else its id. */
export function titleOf(profile: Profile): string {
  const [first] = primaryFirst(profile);
  return nameOf(profile) ?? first?.value ?? profile.id;
}

const typeOrder = ["email", "phone", "external_id"];

/** Identifiers in the order in which people look for them. */
export function primaryFirst({ identifiers }: Profile): Profile["identifiers"] {
  const rank = ({ type }: { type: string }): number => typeOrder.indexOf(type) + 1 || typeOrder.length + 1;
  return identifiers.toSorted(
    (one, other) => rank(one) - rank(other) || Number(other.isPrimary) - Number(one.isPrimary),
  );
}
