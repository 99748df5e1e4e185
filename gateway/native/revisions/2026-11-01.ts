/** Revision 2026-11-01: the surface's own form, without transformation. */

/** Changes since the revision before. */
export const changes: readonly string[] = [
  "Errors have the form {error: {type, code, message, param, request_id, retryable, retry_after_ms, errors?}} in " +
    "place of {error: {code, message, field, request_id}}.",
  "Their code names what is wrong, such as parameter_missing or identity_conflict, where it named the kind of " +
    "answer, such as validation_error; type names the kind.",
  "param, in place of field, names the field, query parameter or header at fault in every error that has one, and " +
    "errors lists all of them.",
  "retryable and retry_after_ms say whether and when the same request can succeed.",
];
