ALTER TABLE identity.keys
  ADD COLUMN rate_limit_ordinary integer CHECK (rate_limit_ordinary > 0),
  ADD COLUMN rate_limit_backfill integer CHECK (rate_limit_backfill > 0);

-- Apart from the keys, which are read for most requests and seldom written.
CREATE TABLE identity.key_uses (
  property_id uuid NOT NULL,
  key_id uuid NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, key_id)
) WITH (fillfactor = 50);

-- A row for each minute in which a key was used, not for each request: gateways lease shares of it. The rows are rewritten often and have
-- no index on what changes, so there is room on each page to do it in place. They live for minutes, so those that are over are found without an
-- index.
CREATE TABLE identity.rate_windows (
  property_id uuid NOT NULL,
  key_id uuid NOT NULL,
  name text NOT NULL CHECK (name IN ('ordinary', 'backfill')),
  starts_at timestamptz NOT NULL,
  -- The key's limit when a share was last leased.
  requests_max integer NOT NULL,
  -- What is leased, without what was given back.
  granted integer NOT NULL CHECK (granted >= 0),
  -- What was leased last: the statement that leases has no other way to tell how much it added.
  share integer NOT NULL,
  PRIMARY KEY (property_id, key_id, name, starts_at)
) WITH (fillfactor = 50);
