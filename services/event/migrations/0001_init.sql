-- Partitioned by month on the time within the id (UUIDv7); partitions.ts makes the partitions.
CREATE TABLE event.events (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  profile_id uuid,
  -- What an anonymous event knows of its person, so that it can be linked when a profile gains the identifier.
  identifier_type text,
  identifier_value text,
  -- json, not jsonb: numbers and the order of keys come back as they were sent, and it is cheaper to write.
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

-- A table of its own, because a unique key of a partitioned table must hold the partition's key.
CREATE TABLE event.dedupe_keys (
  property_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('dedupe_id', 'idempotency_key')),
  key text NOT NULL,
  event_id uuid NOT NULL,
  -- SHA-256 of the item; only idempotency keys have one, as only they refuse another item.
  fingerprint bytea,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, kind, key)
);
CREATE INDEX dedupe_keys_expiry ON event.dedupe_keys (expires_at);

CREATE TABLE event.outbox (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  subject text NOT NULL,
  payload bytea NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  available_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (property_id, id)
);
-- Payloads live for milliseconds: compressing them is not worth the time.
ALTER TABLE event.outbox ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX outbox_order ON event.outbox (id);
