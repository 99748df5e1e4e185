CREATE TABLE metric.metrics (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  source text,
  system boolean NOT NULL DEFAULT false,
  description text,
  first_seen_at timestamptz,
  -- {"<path>": "<type>"}
  schema jsonb NOT NULL DEFAULT '{}',
  event_count bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (property_id, id),
  UNIQUE (property_id, name)
);

-- Messages that were taken, so that one that comes again changes nothing.
CREATE TABLE metric.batches (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  taken_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id)
);
-- For their removal; next to nothing in size, as rows come in the order of time.
CREATE INDEX batches_taken ON metric.batches USING brin (taken_at);
