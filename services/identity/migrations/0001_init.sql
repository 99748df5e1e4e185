CREATE TABLE identity.properties (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  created_at timestamptz NOT NULL
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
  PRIMARY KEY (property_id, id)
);
