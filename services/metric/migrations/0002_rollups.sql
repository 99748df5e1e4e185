-- What is kept of a property as a whole.
CREATE TABLE metric.properties (
  property_id uuid PRIMARY KEY,
  -- The roll-ups that are shown. 0: none yet, as events of before are still being counted.
  generation integer NOT NULL,
  -- What was received up to then is in them from what was stored, whenever its messages come; null where they were made of messages alone.
  counted_up_to timestamptz,
  -- The roll-ups that are being made anew beside them, from what is stored of events that were received up to then. What is received
  -- later is added to both as it comes.
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

ALTER TABLE metric.metrics ADD COLUMN first_occurred_at timestamptz;
ALTER TABLE metric.metrics ADD COLUMN last_occurred_at timestamptz;
ALTER TABLE metric.metrics ADD COLUMN last_received_at timestamptz;

-- Events that were recorded before there were roll-ups are counted from what is stored of them. The few seconds are for clocks that differ.
INSERT INTO metric.properties (property_id, generation, building, building_up_to)
SELECT DISTINCT property_id, 0, 1, now() + interval '2 seconds' FROM metric.metrics;
