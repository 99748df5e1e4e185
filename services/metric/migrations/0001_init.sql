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
  -- Of the event received first among those with an original name.
  original_name text,
  original_name_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Last change of anything shown, except the count.
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (property_id, id),
  UNIQUE (property_id, name),
  CHECK ((original_name IS NULL) = (original_name_at IS NULL))
);

-- Number of metrics that callers registered, which is limited. The row is locked while one is registered.
CREATE TABLE metric.registrations (
  property_id uuid PRIMARY KEY,
  count integer NOT NULL
);

-- Messages about new metrics: see services/shared/outbox.
CREATE TABLE metric.outbox (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  subject text NOT NULL,
  payload bytea NOT NULL,
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
-- Each row is in exactly one of these.
CREATE INDEX outbox_waiting ON metric.outbox (property_id, available_at) WHERE sequence IS NULL;
CREATE INDEX outbox_published ON metric.outbox (subject, epoch, sequence) WHERE sequence IS NOT NULL;

-- Messages that were counted and operations that were done, so that a repeat changes nothing: see
-- services/shared/once/sql.ts.
CREATE TABLE metric.operations (
  property_id uuid NOT NULL,
  -- Of the message or the operation.
  id uuid NOT NULL,
  fingerprint bytea,
  note jsonb,
  done_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX operations_expiry ON metric.operations (expires_at);

-- State of a property.
CREATE TABLE metric.properties (
  property_id uuid PRIMARY KEY,
  -- The generation that queries read.
  generation integer NOT NULL,
  -- Events received up to then were counted by a rebuild, so their messages are skipped. Null if messages alone were
  -- counted.
  counted_up_to timestamptz,
  -- The generation of a rebuild, and the receipt time up to which it reads stored events. Messages of later events are
  -- added to both generations.
  building integer,
  building_up_to timestamptz,
  -- Progress of the rebuild, and when its process last reported.
  built_at timestamptz,
  built_event_id uuid,
  built_events bigint NOT NULL DEFAULT 0,
  builder_seen_at timestamptz,
  -- The last ordinal given to a profile.
  profiles integer NOT NULL DEFAULT 0,
  -- A Roaring bitmap of the ordinals of merged profiles, and the last merge in it.
  merged bytea,
  merges_after uuid,
  CHECK ((building IS NULL) = (building_up_to IS NULL))
);

-- Small integers for profiles, given on first use, so that sets of profiles are bitmaps.
CREATE TABLE metric.profiles (
  property_id uuid NOT NULL,
  profile_id uuid NOT NULL,
  number integer NOT NULL,
  PRIMARY KEY (property_id, profile_id)
);

-- Merges by ordinal, one step at a time.
CREATE TABLE metric.merges (
  property_id uuid NOT NULL,
  source integer NOT NULL,
  survivor integer NOT NULL,
  PRIMARY KEY (property_id, source)
);

-- Counts of events by quarter of an hour of their time. Since 1972 all time zone offsets are multiples of that, so that
-- days of all zones consist of whole ones. Rows change often during their quarter, so pages keep free space.
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

-- Roaring bitmaps of profile ordinals. A table of their own, so that counts and sums are read without them.
CREATE TABLE metric.rollup_profiles (
  property_id uuid NOT NULL,
  metric_id uuid NOT NULL,
  generation integer NOT NULL,
  -- Length of the period: a quarter of an hour, or longer, beginning in UTC at a multiple of it.
  minutes smallint NOT NULL,
  period timestamptz NOT NULL,
  source text NOT NULL,
  currency text NOT NULL,
  profiles bytea NOT NULL,
  PRIMARY KEY (property_id, metric_id, generation, minutes, period, source, currency)
) WITH (fillfactor = 80);
-- Bitmaps are already compressed.
ALTER TABLE metric.rollup_profiles ALTER COLUMN profiles SET STORAGE EXTERNAL;

-- Days in UTC whose longer sets of profiles lack something, or are not made yet. Their quarters of an hour are complete.
CREATE TABLE metric.open_days (
  property_id uuid NOT NULL,
  metric_id uuid NOT NULL,
  generation integer NOT NULL,
  day timestamptz NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (property_id, metric_id, generation, day)
);
CREATE INDEX open_days_day ON metric.open_days (day);
