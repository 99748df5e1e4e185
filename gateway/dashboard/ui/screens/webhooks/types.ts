/**
 * The types of messages in words, and the right that choosing each needs: an endpoint receives what its maker may read.
 * A test compares the table with the vocabulary. It holds data only, so that tests can load it outside a browser.
 */

export interface MessageType {
  type: string;
  /** When it is sent. */
  words: string;
  /** Absent: everybody may receive it. */
  right?: string;
}

export const allTypes = "*";

/** Those that an endpoint may choose. */
export const messageTypes: readonly MessageType[] = [
  {
    type: "event.recorded",
    words: "An event is recorded. Backfill and system events are not sent.",
    right: "events:read",
  },
  { type: "event.linked", words: "An anonymous event gains its profile", right: "events:read" },
  { type: "profile.created", words: "A profile is made: its id", right: "profiles:read" },
  { type: "profile.merged", words: "A profile is merged into another: their ids", right: "profiles:read" },
  { type: "profile.redacted", words: "A profile is redacted: its id", right: "profiles:read" },
  { type: "metric.created", words: "A type of events is seen for the first time", right: "metrics:read" },
  { type: "privacy_request.completed", words: "A privacy request is completed", right: "privacy:read" },
  { type: "privacy_request.failed", words: "A privacy request fails", right: "privacy:read" },
  {
    type: "rejected_writes.reported",
    words: "Writes of a key are refused: how many, and why; at most every 10 minutes",
    right: "accounts:read",
  },
  { type: "webhook_endpoint.disabled", words: "Another endpoint is disabled", right: "accounts:read" },
];

/** Those that are sent whatever an endpoint has chosen. */
export const otherTypes: readonly MessageType[] = [
  { type: "app.uninstalled", words: "An app is uninstalled: to its own endpoint only" },
  { type: "webhook.test", words: "A test that somebody asked for" },
];

/** A type in words; one that is not known here by its own name. */
export function typeInWords(type: string): string {
  if (type === allTypes) return "Everything, also types that are added later";
  return [...messageTypes, ...otherTypes].find((known) => known.type === type)?.words ?? type;
}

/** Whether somebody with some rights may choose a type. */
export function mayChoose(type: string, rights: ReadonlySet<string>): boolean {
  if (type === allTypes) return messageTypes.every(({ right }) => right === undefined || rights.has(right));
  const known = messageTypes.find((each) => each.type === type);
  return known?.right === undefined || rights.has(known.right);
}
