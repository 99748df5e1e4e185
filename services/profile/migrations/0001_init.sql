CREATE TABLE profile.profiles (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'merged', 'redacted')),
  -- json, not jsonb, because it keeps numbers and the order of keys as they were sent.
  attributes json NOT NULL DEFAULT '{}',
  tags text[] NOT NULL DEFAULT '{}',
  location jsonb,
  merged_into uuid,
  -- A compact reference, if the property has them.
  profile_ref text,
  -- Increases with each write that changes what the profile shows.
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id),
  CHECK ((status = 'merged') = (merged_into IS NOT NULL))
);
-- The orders of a list, which is of one status. The condition is true for every row, but only statements that repeat
-- it, such as the lists, can use these indexes. Without statistics PostgreSQL was measured to choose such an index over
-- the primary key.
CREATE INDEX profiles_created ON profile.profiles (property_id, status, created_at, id) WHERE created_at > '-infinity';
CREATE INDEX profiles_updated ON profile.profiles (property_id, status, updated_at, id) WHERE updated_at > '-infinity';
CREATE INDEX profiles_tags ON profile.profiles USING gin (tags) WHERE tags <> '{}';
-- Finds the profiles that were merged into a profile.
CREATE INDEX profiles_merged ON profile.profiles (property_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE UNIQUE INDEX profiles_ref ON profile.profiles (property_id, profile_ref) WHERE profile_ref IS NOT NULL;

-- The properties whose profiles have references.
CREATE TABLE profile.ref_properties (
  property_id uuid PRIMARY KEY,
  enabled boolean NOT NULL
);

CREATE TABLE profile.identifiers (
  property_id uuid NOT NULL,
  type text NOT NULL,
  value text NOT NULL,
  id uuid NOT NULL,
  profile_id uuid NOT NULL,
  is_primary boolean NOT NULL DEFAULT false,
  verified_at timestamptz,
  source text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- An identifier belongs to one profile of its property.
  PRIMARY KEY (property_id, type, value),
  -- Finds the identifiers of a profile, oldest first.
  UNIQUE (property_id, profile_id, id),
  -- Checked at commit, because a statement that creates both writes the identifiers first, and engines that spread
  -- tables check after each part of it.
  CONSTRAINT identifiers_profile FOREIGN KEY (property_id, profile_id) REFERENCES profile.profiles (property_id, id)
    DEFERRABLE INITIALLY DEFERRED
);

-- A profile has at most one primary identifier of each type.
CREATE UNIQUE INDEX identifiers_primary ON profile.identifiers (property_id, profile_id, type) WHERE is_primary;

-- Records of merges. Names and ids only, no values.
CREATE TABLE profile.merges (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  survivor_id uuid NOT NULL,
  source_id uuid NOT NULL,
  -- The id of an API key, or the name of an internal caller.
  merged_by text NOT NULL,
  request_id text NOT NULL,
  merged_at timestamptz NOT NULL,
  -- {identifier_ids: […], attributes: [key, …], tags: […], location: [field, …]}
  moved jsonb NOT NULL,
  PRIMARY KEY (property_id, id),
  -- A profile is merged away once.
  UNIQUE (property_id, source_id)
);
CREATE INDEX merges_survivor ON profile.merges (property_id, survivor_id);

-- The observed schema of the attributes of a property.
CREATE TABLE profile.attribute_schemas (
  property_id uuid PRIMARY KEY,
  -- {"<path>": "<type>"}
  schema jsonb NOT NULL DEFAULT '{}'
);

-- Operations that were done, so that a repeat changes nothing: see services/shared/once/sql.ts.
CREATE TABLE profile.operations (
  property_id uuid NOT NULL,
  -- Of the operation, or made of the idempotency key of an item.
  id uuid NOT NULL,
  -- SHA-256 of the item with the key.
  fingerprint bytea,
  -- The id of the profile, and the result without the profile.
  note jsonb,
  done_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX operations_expiry ON profile.operations (expires_at);

-- Imports of many profiles. A job is processed chunk by chunk, and deleted after 7 days.
CREATE TABLE profile.import_jobs (
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
CREATE INDEX import_jobs_unfinished ON profile.import_jobs (property_id) WHERE completed_at IS NULL;
CREATE INDEX import_jobs_created ON profile.import_jobs (created_at);

CREATE TABLE profile.import_chunks (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  chunk integer NOT NULL,
  -- Its items as protobuf; null once it is finished, so that only their results are kept.
  payload bytea,
  PRIMARY KEY (property_id, job_id, chunk),
  FOREIGN KEY (property_id, job_id) REFERENCES profile.import_jobs (property_id, id) ON DELETE CASCADE
);

-- Profiles that a job wrote.
CREATE TABLE profile.import_profiles (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  profile_id uuid NOT NULL,
  PRIMARY KEY (property_id, job_id, profile_id),
  FOREIGN KEY (property_id, job_id) REFERENCES profile.import_jobs (property_id, id) ON DELETE CASCADE
);

-- Items that a job refused.
CREATE TABLE profile.import_errors (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  item integer NOT NULL,
  id uuid NOT NULL,
  -- The error as protobuf.
  error bytea NOT NULL,
  original_json text NOT NULL,
  PRIMARY KEY (property_id, job_id, item),
  FOREIGN KEY (property_id, job_id) REFERENCES profile.import_jobs (property_id, id) ON DELETE CASCADE
);

-- What persons asked for: access to what is kept of them, or its erasure. A request stays for good. Once it has ended it
-- has no value of the person.
CREATE TABLE profile.privacy_requests (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL CHECK (type IN ('access', 'erasure')),
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'in_progress', 'completed', 'failed', 'cancelled')),
  subject_profile_id uuid,
  -- [{type, display_value}, …], masked.
  subject_identifiers jsonb NOT NULL DEFAULT '[]',
  -- The profile that was named, and from the beginning of the work all that were found.
  profile_ids uuid[] NOT NULL DEFAULT '{}',
  regulation text,
  reference text,
  submitted_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  not_before timestamptz,
  suppress boolean NOT NULL,
  -- {profiles, identifiers, events, …}
  counts jsonb,
  not_reached text[] NOT NULL DEFAULT '{}',
  -- When the work began.
  as_of timestamptz,
  -- Until when the stream of an access request can be had.
  download_until timestamptz,
  -- {code, message}
  failure jsonb,
  -- The id of an API key, an installation or a member, or the name of an internal caller.
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  completed_at timestamptz,
  -- {named: [{type, value}, …], known: [{type, value}, …]} in normal form, as long as the work or the stream needs them.
  held jsonb,
  -- What the worker does next.
  step text NOT NULL DEFAULT 'begin' CHECK (step IN ('begin', 'count', 'erase', 'sweep', 'close')),
  -- When it is due; null once the request has ended.
  next_at timestamptz,
  -- How often the step was tried.
  tries integer NOT NULL DEFAULT 0,
  -- Who works on it: a worker that was overtaken by another writes nothing.
  claim uuid,
  -- What the other services reported of the step: {"<part>": {counts, not_reached}, …}
  reports jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (property_id, id)
);
CREATE UNIQUE INDEX privacy_requests_reference ON profile.privacy_requests (property_id, reference, type)
  WHERE reference IS NOT NULL;
CREATE INDEX privacy_requests_status ON profile.privacy_requests (property_id, status, id);
CREATE INDEX privacy_requests_due ON profile.privacy_requests (property_id, due_at, id) WHERE due_at > '-infinity';
CREATE INDEX privacy_requests_created ON profile.privacy_requests (property_id, created_at, id)
  WHERE created_at > '-infinity';
CREATE INDEX privacy_requests_profiles ON profile.privacy_requests USING gin (profile_ids) WHERE profile_ids <> '{}';
-- Finds those that the worker has to look at.
CREATE INDEX privacy_requests_next ON profile.privacy_requests (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX privacy_requests_open ON profile.privacy_requests (due_at) WHERE status IN ('pending', 'in_progress');
CREATE INDEX privacy_requests_failed ON profile.privacy_requests (completed_at) WHERE status = 'failed';
-- Finds streams that can be had, to end them.
CREATE INDEX privacy_requests_streams ON profile.privacy_requests (download_until)
  WHERE type = 'access' AND held IS NOT NULL;

-- The secret of each property that has suppressions, as the two padded keys of HMAC-SHA256 (RFC 2104), so that SQL can
-- make digests: sha256(outer || sha256(inner || text)).
CREATE TABLE profile.suppression_keys (
  property_id uuid PRIMARY KEY,
  inner_key bytea NOT NULL,
  outer_key bytea NOT NULL
);

-- Identifiers that are kept out, as digests of "<type> <value>" in normal form.
CREATE TABLE profile.suppressions (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  digest bytea NOT NULL,
  privacy_request_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id)
);
CREATE UNIQUE INDEX suppressions_digest ON profile.suppressions (property_id, digest);

-- A row stays until its message was taken. A published row has the sequence of its message, and the epoch of the stream
-- (the instant at which the stream was made, as the server writes it).
CREATE TABLE profile.outbox (
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
CREATE INDEX outbox_waiting ON profile.outbox (property_id, available_at) WHERE sequence IS NULL;
CREATE INDEX outbox_published ON profile.outbox (subject, epoch, sequence) WHERE sequence IS NOT NULL;
