/** The revisions of the public API, oldest first. A new key is pinned to the newest one. */
export const revisions = ["2026-05-01", "2026-11-01"] as const;

export type Revision = (typeof revisions)[number];

export const newestRevision: Revision = "2026-11-01";

/** Whether a text is one of the known revisions. */
export function isRevision(text: string): text is Revision {
  return (revisions as readonly string[]).includes(text);
}
