-- Compact references, for the properties that have them.
ALTER TABLE profile.profiles ADD COLUMN profile_ref text;
CREATE UNIQUE INDEX profiles_ref ON profile.profiles (property_id, profile_ref) WHERE profile_ref IS NOT NULL;
CREATE TABLE profile.ref_properties (
  property_id uuid PRIMARY KEY,
  enabled boolean NOT NULL
);

-- The two orders of a list, by state because a list is of one state. The condition holds for every row: it is there so that only who says it,
-- as the lists do, can use them. Without statistics an index of the lists was measured to be taken for the primary key.
CREATE INDEX profiles_created ON profile.profiles (property_id, status, created_at, id) WHERE created_at > '-infinity';
CREATE INDEX profiles_updated ON profile.profiles (property_id, status, updated_at, id) WHERE updated_at > '-infinity';
CREATE INDEX profiles_tags ON profile.profiles USING gin (tags) WHERE tags <> '{}';
-- Finds what was merged into a profile.
CREATE INDEX profiles_merged ON profile.profiles (property_id, merged_into) WHERE merged_into IS NOT NULL;

-- Who merged what, when, and what came with it. Names and ids only, no values.
CREATE TABLE profile.merges (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  survivor_id uuid NOT NULL,
  source_id uuid NOT NULL,
  -- The id of an API key, or the name of whoever acted within the mesh.
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

-- Keys of items of batches, so that a repeat is not done again.
CREATE TABLE profile.item_keys (
  property_id uuid NOT NULL,
  key text NOT NULL,
  -- SHA-256 of the item.
  fingerprint bytea NOT NULL,
  profile_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, key)
);
CREATE INDEX item_keys_expiry ON profile.item_keys (expires_at);

CREATE TABLE profile.outbox (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  subject text NOT NULL,
  payload bytea NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  available_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (property_id, id)
);
CREATE INDEX outbox_order ON profile.outbox (id);
