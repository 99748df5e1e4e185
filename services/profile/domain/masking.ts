/** Masks of identifiers that stay when the person is erased. They show less than what a key without a scope sees. */
import type { NormalIdentifier } from "#shared/values/identifiers.ts";

const shownLengthMin = 4;

/** Such as `j***@e***.com` of an email, `+3***` of a phone, and the first character of other values. */
export function maskForGood({ type, value }: NormalIdentifier): string {
  if (value.length < shownLengthMin) return "***";
  const characters = [...value];
  if (type === "phone") return `${characters.slice(0, 2).join("")}***`;
  const at = value.lastIndexOf("@");
  if (type !== "email" || at < 1) return `${characters[0] ?? ""}***`;
  const domain = value.slice(at + 1);
  const dot = domain.lastIndexOf(".");
  return `${characters[0] ?? ""}***@${[...domain][0] ?? ""}***${dot > 0 ? domain.slice(dot) : ""}`;
}
