-- Partitioned by month on the time within the id (UUIDv7); partitions.ts creates the partitions.
CREATE TABLE event.events (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  profile_id uuid,
  -- The identifier of an anonymous event, so that it can be linked when a profile gains the identifier.
  identifier_type text,
  identifier_value text,
  -- json, not jsonb, because it keeps numbers and the order of keys as they were sent, and is cheaper to write.
  properties json NOT NULL,
  value numeric,
  currency text,
  occurred_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  dedupe_id text,
  source text NOT NULL,
  backfill boolean NOT NULL,
  PRIMARY KEY (property_id, id),
  CHECK ((value IS NULL) = (currency IS NULL)),
  CHECK (profile_id IS NULL OR identifier_type IS NULL)
) PARTITION BY RANGE (id);
-- The orders of a list. The condition is true for every row, but only statements that repeat it, such as the lists, can
-- use these indexes. Without statistics PostgreSQL was measured to choose such an index over the primary key.
CREATE INDEX events_occurred ON event.events (property_id, occurred_at, id) WHERE occurred_at > '-infinity';
-- Without the id, because all events of a call were received at one instant: they share an entry, and are few to sort.
CREATE INDEX events_received ON event.events (property_id, received_at) WHERE received_at > '-infinity';
CREATE INDEX events_type ON event.events (property_id, type, occurred_at, id) WHERE occurred_at > '-infinity';
-- Nearly all events come from the API, so a list of those finds them in any index.
CREATE INDEX events_source ON event.events (property_id, source, occurred_at, id) WHERE source <> 'api';
CREATE INDEX events_profile ON event.events (property_id, profile_id, occurred_at, id) WHERE profile_id IS NOT NULL;
-- Finds anonymous events when a profile gains their identifier, and in order when a person asks for them.
CREATE INDEX events_identifier ON event.events (property_id, identifier_type, identifier_value, id) WHERE identifier_type IS NOT NULL;

-- A separate table, because a unique key of a partitioned table must contain the partition key.
CREATE TABLE event.dedupe_keys (
  property_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('dedupe_id', 'idempotency_key', 'unique_id')),
  -- A digest, because keys may contain personal data: see key-digest.ts and unique-key.ts.
  key text NOT NULL,
  event_id uuid NOT NULL,
  -- SHA-256 of the item. Only idempotency keys have one, because only they refuse a different item.
  fingerprint bytea,
  claimed_at timestamptz NOT NULL,
  -- infinity for a unique_id, which is held for good.
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, kind, key)
);
CREATE INDEX dedupe_keys_expiry ON event.dedupe_keys (expires_at);

-- Each type makes a metric, so a property has a limited number of types.
CREATE TABLE event.types (
  property_id uuid NOT NULL,
  type text NOT NULL,
  PRIMARY KEY (property_id, type)
);

-- The number of rows of event.types of a property. Adding types locks its row.
CREATE TABLE event.type_counts (
  property_id uuid PRIMARY KEY,
  count integer NOT NULL
);

-- One row for each process that stores events. All events that it received up to its low watermark are stored.
CREATE TABLE event.writers (
  id uuid PRIMARY KEY,
  -- infinity while the process is idle. It writes its low watermark before it stores events.
  low_watermark timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);

-- Events that are stored in the background. A job is processed chunk by chunk, and deleted after 7 days.
CREATE TABLE event.jobs (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  total_count integer NOT NULL,
  completed_count integer NOT NULL DEFAULT 0,
  failed_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  completed_at timestamptz,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX jobs_unfinished ON event.jobs (property_id) WHERE completed_at IS NULL;
CREATE INDEX jobs_created ON event.jobs (created_at);

CREATE TABLE event.job_chunks (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  chunk integer NOT NULL,
  -- Its items as protobuf, each with the id of its event; null once it is finished.
  payload bytea,
  PRIMARY KEY (property_id, job_id, chunk),
  FOREIGN KEY (property_id, job_id) REFERENCES event.jobs (property_id, id) ON DELETE CASCADE
);

-- Items that a job refused.
CREATE TABLE event.job_errors (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  item integer NOT NULL,
  id uuid NOT NULL,
  -- The error as protobuf.
  error bytea NOT NULL,
  -- The JSON text of the type of the event, and nothing else of what the caller sent.
  original_json text NOT NULL,
  PRIMARY KEY (property_id, job_id, item),
  FOREIGN KEY (property_id, job_id) REFERENCES event.jobs (property_id, id) ON DELETE CASCADE
);

-- A row stays until its message was taken. A published row has the sequence of its message, and the epoch of the stream
-- (the instant at which the stream was made, as the server writes it).
CREATE TABLE event.outbox (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  subject text NOT NULL,
  payload bytea NOT NULL,
  -- When the events of the message were received; null for other messages.
  received_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  -- When the row is due, or when it was published.
  available_at timestamptz NOT NULL DEFAULT now(),
  epoch text,
  sequence bigint,
  -- The last error of publishing.
  failure text,
  PRIMARY KEY (property_id, id),
  CHECK ((epoch IS NULL) = (sequence IS NULL))
);
-- Not compressed, because payloads are deleted soon.
ALTER TABLE event.outbox ALTER COLUMN payload SET STORAGE EXTERNAL;
-- Each row is in exactly one of these.
CREATE INDEX outbox_waiting ON event.outbox (property_id, available_at) WHERE sequence IS NULL;
CREATE INDEX outbox_published ON event.outbox (subject, epoch, sequence) WHERE sequence IS NOT NULL;

-- What a property keeps of writes that were refused. Whoever counts some locks its row, so that all limits are exact.
CREATE TABLE event.rejected_properties (
  property_id uuid PRIMARY KEY,
  keeps_payloads boolean NOT NULL DEFAULT true,
  -- The first instant of the day (UTC) that the two counts are of.
  day_begins_at timestamptz NOT NULL,
  -- Entries that were kept, and groups that were begun.
  kept_count integer NOT NULL,
  group_count integer NOT NULL
);

-- Exact counts of refused writes for each group and minute.
CREATE TABLE event.rejected_counts (
  property_id uuid NOT NULL,
  minute timestamptz NOT NULL,
  -- A digest of the columns that make the group: operation, code, param, event_type, key_id and severity.
  group_digest bytea NOT NULL,
  operation text NOT NULL,
  code text NOT NULL,
  -- With * for indexes and for names that are not plain.
  param text,
  event_type text,
  -- The TypeID of a key or an installation.
  key_id text NOT NULL,
  key_name text NOT NULL,
  -- The number of the enum RejectionSeverity.
  severity smallint NOT NULL,
  count bigint NOT NULL,
  -- Entries that are kept of them.
  kept_count integer NOT NULL,
  -- How many of them no report has told yet.
  unreported_count bigint NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, minute, group_digest)
);
CREATE INDEX rejected_counts_age ON event.rejected_counts (minute);
CREATE INDEX rejected_counts_unreported ON event.rejected_counts (property_id, key_id) WHERE unreported_count > 0;

-- A key with refused writes that no report has told yet.
CREATE TABLE event.rejected_reports (
  property_id uuid NOT NULL,
  key_id text NOT NULL,
  -- When the first of them was refused.
  first_at timestamptz NOT NULL,
  -- When the next report of this key may be told.
  due_at timestamptz NOT NULL,
  -- Whether there is something to tell. A row without anything only keeps the time between two reports.
  is_open boolean NOT NULL,
  PRIMARY KEY (property_id, key_id)
);
CREATE INDEX rejected_reports_due ON event.rejected_reports (due_at);

-- The ids of writes and counts that were told, so that what is told again counts once.
CREATE TABLE event.rejected_told (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX rejected_told_expiry ON event.rejected_told (expires_at);

-- Some refused writes of each group and minute. The order of ids is that of their times.
CREATE TABLE event.rejected_writes (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  rejected_at timestamptz NOT NULL,
  group_digest bytea NOT NULL,
  operation text NOT NULL,
  -- Numbers of the enums RejectionSurface, RejectionSeverity and PayloadState.
  surface smallint NOT NULL,
  severity smallint NOT NULL,
  status integer NOT NULL,
  code text NOT NULL,
  -- As in rejected_counts; the error has the field as it was told.
  param text,
  -- The error as protobuf.
  error bytea NOT NULL,
  request_id text NOT NULL,
  item_index integer,
  client_reference text,
  event_type text,
  key_id text NOT NULL,
  key_name text NOT NULL,
  installation_id text,
  job_id text,
  payload_state smallint NOT NULL,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX rejected_writes_age ON event.rejected_writes (id);
CREATE INDEX rejected_writes_group ON event.rejected_writes (property_id, group_digest, id);
-- Only statements that repeat a condition use its index, and each has at most one of them.
CREATE INDEX rejected_writes_request ON event.rejected_writes (property_id, request_id, id) WHERE request_id <> '';
CREATE INDEX rejected_writes_reference ON event.rejected_writes (property_id, client_reference, id) WHERE client_reference IS NOT NULL;
CREATE INDEX rejected_writes_param ON event.rejected_writes (property_id, param, id) WHERE param IS NOT NULL;
CREATE INDEX rejected_writes_type ON event.rejected_writes (property_id, event_type, id) WHERE event_type IS NOT NULL;
CREATE INDEX rejected_writes_code ON event.rejected_writes (property_id, code, id) WHERE code <> '';
CREATE INDEX rejected_writes_operation ON event.rejected_writes (property_id, operation, id) WHERE operation <> '';
CREATE INDEX rejected_writes_key ON event.rejected_writes (property_id, key_id, id) WHERE key_id <> '';

-- What was sent. A table of its own, because it is kept for a shorter time, and lists do not read it.
CREATE TABLE event.rejected_payloads (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Bytes, because it may be anything that a caller can send.
  payload bytea NOT NULL,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX rejected_payloads_age ON event.rejected_payloads (id);
