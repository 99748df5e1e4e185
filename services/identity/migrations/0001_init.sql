CREATE TABLE identity.properties (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  created_at timestamptz NOT NULL,
  -- The currency of values that come without one over the compatibility surface.
  default_currency text NOT NULL DEFAULT 'USD' CHECK (default_currency ~ '^[A-Z]{3}$'),
  -- IANA name.
  timezone text NOT NULL DEFAULT 'UTC'
);

CREATE TABLE identity.keys (
  property_id uuid NOT NULL REFERENCES identity.properties (id),
  id uuid NOT NULL,
  name text NOT NULL,
  -- SHA-256; the secret itself is nowhere.
  secret_hash bytea NOT NULL UNIQUE,
  display_prefix text NOT NULL,
  scopes text[] NOT NULL,
  revision text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  rate_limit_ordinary integer CHECK (rate_limit_ordinary > 0),
  rate_limit_backfill integer CHECK (rate_limit_backfill > 0),
  PRIMARY KEY (property_id, id)
);

-- Apart from the keys, which are read for most requests and seldom written.
CREATE TABLE identity.key_uses (
  property_id uuid NOT NULL,
  key_id uuid NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, key_id)
) WITH (fillfactor = 50);

-- A row for each minute in which a key was used, not for each request: gateways lease shares of it. Rows are rewritten
-- often and have no index on what changes, so each page has room to rewrite them in place. Rows live for minutes, so
-- expired ones are found without an index.
CREATE TABLE identity.rate_windows (
  property_id uuid NOT NULL,
  key_id uuid NOT NULL,
  name text NOT NULL CHECK (name IN ('ordinary', 'backfill')),
  starts_at timestamptz NOT NULL,
  -- The key's limit when a share was last leased.
  requests_max integer NOT NULL,
  -- All leased shares, without what was given back.
  granted integer NOT NULL CHECK (granted >= 0),
  -- The share that was leased last: the statement that leases has no other way to tell how much it added.
  share integer NOT NULL,
  PRIMARY KEY (property_id, key_id, name, starts_at)
) WITH (fillfactor = 50);

-- Idempotency-Keys: each names one operation of its property for 24 hours.
CREATE TABLE identity.operations (
  property_id uuid NOT NULL,
  -- A digest, as keys may tell of a person: see key-digest.ts.
  key text NOT NULL,
  -- SHA-256 of all that makes the request what it is.
  fingerprint bytea NOT NULL,
  -- Fixed before anything is done: the new resource's id comes from it, and services do it once.
  operation_id uuid NOT NULL,
  -- How often it was begun.
  attempt integer NOT NULL DEFAULT 1,
  -- Until then an attempt is under way.
  leased_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The answer, once there is one.
  status integer,
  headers json,
  body text,
  request_id text,
  -- The body for API keys that may not see values of identifiers, where it is another.
  masked_body text,
  -- UUIDs of the profiles and events that the answer names: the answer goes when one of them is redacted.
  subjects uuid[],
  PRIMARY KEY (property_id, key),
  CHECK (num_nulls(status, headers, body, request_id) IN (0, 4)),
  CHECK (masked_body IS NULL OR body IS NOT NULL)
);
CREATE INDEX operations_expiry ON identity.operations (expires_at);
-- Without the list of pending entries, which one request would have to work off for many.
CREATE INDEX operations_subjects ON identity.operations USING gin (subjects) WITH (fastupdate = off) WHERE subjects IS NOT NULL;
