/** Subjects of messages about refused writes. */

/** Reports of keys; this service publishes them. */
export const reportedSubject = "daybook.event.rejected_writes_reported";
/** Items that import jobs refused; the profile service publishes them. */
export const writesRejectedSubject = "daybook.profile.writes_rejected";
