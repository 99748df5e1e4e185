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
  first_occurred_at timestamptz,
  last_occurred_at timestamptz,
  last_received_at timestamptz,
  -- The name that its type was derived from, of the event that was received first of those that have one, and when that was.
  original_name text,
  original_name_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When anything that it shows last changed, but for its count.
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (property_id, id),
  UNIQUE (property_id, name),
  CHECK ((original_name IS NULL) = (original_name_at IS NULL))
);

-- How many metrics of a property were registered by callers, which has a limit. Whoever registers one holds the row until it is done.
CREATE TABLE metric.registrations (
  property_id uuid PRIMARY KEY,
  count integer NOT NULL
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

-- What is kept of a property as a whole.
CREATE TABLE metric.properties (
  property_id uuid PRIMARY KEY,
  -- The roll-ups that are shown.
  generation integer NOT NULL,
  -- What was received up to then is in the roll-ups from what was stored, whenever its messages come; null where the
  -- roll-ups were made of messages alone.
  counted_up_to timestamptz,
  -- The roll-ups that are being made anew beside them, from what is stored of events that were received up to then.
  -- What is received later is added to both as it comes.
  building integer,
  building_up_to timestamptz,
  -- How far that has come, and when somebody was last at it.
  built_at timestamptz,
  built_event_id uuid,
  built_events bigint NOT NULL DEFAULT 0,
  builder_seen_at timestamptz,
  -- The last number that a profile was given.
  profiles integer NOT NULL DEFAULT 0,
  -- A Roaring bitmap of the numbers of profiles that were merged away, and the last merge that is in it.
  merged bytea,
  merges_after uuid,
  CHECK ((building IS NULL) = (building_up_to IS NULL))
);

-- Profiles as small numbers, given as they come up, so that sets of them are bitmaps.
CREATE TABLE metric.profiles (
  property_id uuid NOT NULL,
  profile_id uuid NOT NULL,
  number integer NOT NULL,
  PRIMARY KEY (property_id, profile_id)
);

-- Who was merged into whom, one step at a time.
CREATE TABLE metric.merges (
  property_id uuid NOT NULL,
  source integer NOT NULL,
  survivor integer NOT NULL,
  PRIMARY KEY (property_id, source)
);

-- Events by when they happened, in quarters of an hour: every offset of a time zone is a multiple of that, so that the days of all zones
-- are made of whole ones. Rows change often while their quarter lasts, and find room on their page.
CREATE TABLE metric.rollups (
  property_id uuid NOT NULL,
  metric_id uuid NOT NULL,
  generation integer NOT NULL,
  period timestamptz NOT NULL,
  source text NOT NULL,
  -- Empty for events without a value.
  currency text NOT NULL,
  events bigint NOT NULL,
  value numeric NOT NULL,
  PRIMARY KEY (property_id, metric_id, generation, period, source, currency)
) WITH (fillfactor = 80);

-- Whose those events are: Roaring bitmaps of numbers of profiles. Apart, so that counts and sums are read without them.
CREATE TABLE metric.rollup_profiles (
  property_id uuid NOT NULL,
  metric_id uuid NOT NULL,
  generation integer NOT NULL,
  period timestamptz NOT NULL,
  source text NOT NULL,
  currency text NOT NULL,
  profiles bytea NOT NULL,
  PRIMARY KEY (property_id, metric_id, generation, period, source, currency)
) WITH (fillfactor = 80);
-- They are compressed already.
ALTER TABLE metric.rollup_profiles ALTER COLUMN profiles SET STORAGE EXTERNAL;
