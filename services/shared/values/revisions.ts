/** The revisions of the public API, oldest first. A key is pinned to the newest one there is when it is made. */
export const revisions = ["2026-05-01", "2026-11-01"] as const;

/** One of the known revisions. */
export type Revision = (typeof revisions)[number];

/** The newest revision. */
export const newestRevision: Revision = "2026-11-01";

/** Whether a text is one of the known revisions. */
export function isRevision(text: string): text is Revision {
  return (revisions as readonly string[]).includes(text);
}
