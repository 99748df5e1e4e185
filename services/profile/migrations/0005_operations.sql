-- Operations that were done: asked for again they change nothing. Names and ids only, no values.
CREATE TABLE profile.operations (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  profile_id uuid NOT NULL,
  -- What to answer beside the profile as it is.
  note jsonb NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX operations_expiry ON profile.operations (expires_at);
