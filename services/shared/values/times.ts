/** The expected form of a date-time, for messages. */
export const dateTimeExpected = 'an ISO 8601 date-time with an offset or Z such as "2026-11-02T10:30:00+01:00"';
