-- Idempotency-Keys: each names one operation of its property for 24 hours.
CREATE TABLE identity.operations (
  property_id uuid NOT NULL,
  key text NOT NULL,
  -- SHA-256 of all that makes the request what it is.
  fingerprint bytea NOT NULL,
  -- Fixed before anything is done: the new resource's id comes from it, and services do it once.
  operation_id uuid NOT NULL,
  -- How often it was begun.
  attempt integer NOT NULL DEFAULT 1,
  -- Until then somebody is at it.
  leased_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The answer, once there is one.
  status integer,
  headers json,
  body text,
  request_id text,
  PRIMARY KEY (property_id, key),
  CHECK (num_nulls(status, headers, body, request_id) IN (0, 4))
);
CREATE INDEX operations_expiry ON identity.operations (expires_at);
