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
CREATE INDEX events_received ON event.events (property_id, received_at, id) WHERE received_at > '-infinity';
CREATE INDEX events_type ON event.events (property_id, type, occurred_at, id) WHERE occurred_at > '-infinity';
-- Nearly all events come from the API, so a list of those finds them in any index.
CREATE INDEX events_source ON event.events (property_id, source, occurred_at, id) WHERE source <> 'api';
CREATE INDEX events_profile ON event.events (property_id, profile_id, occurred_at, id) WHERE profile_id IS NOT NULL;
-- Finds anonymous events when a profile gains their identifier.
CREATE INDEX events_identifier ON event.events (property_id, identifier_type, identifier_value) WHERE identifier_type IS NOT NULL;

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
