/** Examples of privacy requests; those of other resources are in examples.ts. */
import { exampleIds } from "../docs/example-ids.ts";

export const examplePrivacyRequest = {
  id: exampleIds.privacyRequest,
  object: "privacy_request",
  type: "access",
  status: "completed",
  subject: { profile_id: exampleIds.profile, identifiers: [] },
  profile_ids: [exampleIds.profile],
  regulation: "gdpr",
  reference: "ticket-4711",
  submitted_at: "2026-11-02T09:30:00.000000Z",
  due_at: "2026-12-02T09:30:00.000000Z",
  not_before: null,
  suppress: false,
  counts: {
    profiles: 1,
    identifiers: 2,
    events: 120,
    anonymous_events: 3,
    webhook_messages: 0,
    rejected_writes: 0,
    import_errors: 0,
  },
  not_reached: ["Backups that were made before."],
  download: {
    expires_at: "2026-11-09T09:30:02.000000Z",
    as_of: "2026-11-02T09:30:02.000000Z",
    events: 123,
  },
  failure: null,
  created_by: exampleIds.key,
  created_at: "2026-11-02T09:30:00.000000Z",
  updated_at: "2026-11-02T09:30:02.000000Z",
  completed_at: "2026-11-02T09:30:02.000000Z",
};

/** An erasure that has not begun. */
export const examplePendingErasure = {
  ...examplePrivacyRequest,
  id: exampleIds.pendingPrivacyRequest,
  type: "erasure",
  status: "pending",
  subject: { profile_id: null, identifiers: [{ type: "email", display_value: "g***@e***.com" }] },
  profile_ids: [],
  reference: "ticket-4712",
  not_before: "2026-11-03T09:30:00.000000Z",
  suppress: true,
  counts: null,
  not_reached: [],
  download: null,
  updated_at: "2026-11-02T09:30:00.000000Z",
  completed_at: null,
};

/** Two requests: one taken, one whose reference the property has already. */
export const examplePrivacyBatch = {
  object: "batch_result",
  results: [
    {
      status: 202,
      client_reference: "row 1",
      data: { id: exampleIds.pendingPrivacyRequest, object: "privacy_request" },
      error: null,
    },
    {
      status: 200,
      client_reference: null,
      data: { id: exampleIds.privacyRequest, object: "privacy_request" },
      error: null,
    },
  ],
  counts: { succeeded: 2, failed: 0 },
};

export const exampleSuppression = {
  id: exampleIds.suppression,
  object: "suppression",
  type: "email",
  privacy_request_id: exampleIds.pendingPrivacyRequest,
  created_at: "2026-11-03T09:30:01.000000Z",
};
