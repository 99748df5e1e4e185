CREATE TABLE identity.properties (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  created_at timestamptz NOT NULL,
  -- Of values without a currency on the compatibility surface.
  default_currency text NOT NULL DEFAULT 'USD' CHECK (default_currency ~ '^[A-Z]{3}$'),
  -- IANA name.
  timezone text NOT NULL DEFAULT 'UTC'
);

CREATE TABLE identity.keys (
  property_id uuid NOT NULL REFERENCES identity.properties (id),
  id uuid NOT NULL,
  name text NOT NULL,
  -- SHA-256; the secret is not stored.
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

-- Programs that call RPCs directly. Few, and read by their hash.
CREATE TABLE identity.clients (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  -- SHA-256; the token is not stored.
  secret_hash bytea NOT NULL UNIQUE,
  -- Full names of RPC methods, or a service and a wildcard.
  methods text[] NOT NULL,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE UNIQUE INDEX clients_name ON identity.clients (name) WHERE revoked_at IS NULL;

-- Not in keys and installations, because those are read by most requests and seldom written.
CREATE TABLE identity.caller_uses (
  property_id uuid NOT NULL,
  -- A key or an installation.
  caller_id uuid NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, caller_id)
) WITH (fillfactor = 50);

-- A row per minute in which a caller was used, not per request, because gateways lease shares of it. Rows are rewritten
-- often and have no index on changing columns, so free space in each page allows updates in place. Rows live for
-- minutes, so expired ones are found without an index.
CREATE TABLE identity.rate_windows (
  property_id uuid NOT NULL,
  -- A key or an installation.
  caller_id uuid NOT NULL,
  name text NOT NULL CHECK (name IN ('ordinary', 'backfill')),
  starts_at timestamptz NOT NULL,
  -- The caller's limit at the last lease.
  requests_max integer NOT NULL,
  -- All leased shares minus returned requests.
  granted integer NOT NULL CHECK (granted >= 0),
  -- The last leased share, stored so that the lease statement can return it.
  share integer NOT NULL,
  PRIMARY KEY (property_id, caller_id, name, starts_at)
) WITH (fillfactor = 50);

-- Idempotency-Keys. Each identifies one operation of its property for 24 hours.
CREATE TABLE identity.operations (
  property_id uuid NOT NULL,
  -- A digest, because keys may contain personal data: see key-digest.ts.
  key text NOT NULL,
  -- SHA-256 of the request.
  fingerprint bytea NOT NULL,
  -- Fixed before the work: the new resource's id comes from it, and services are idempotent by it.
  operation_id uuid NOT NULL,
  -- Number of attempts.
  attempt integer NOT NULL DEFAULT 1,
  -- When the last attempt claimed the operation, which it then holds until leased_until.
  claimed_at timestamptz NOT NULL,
  leased_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The answer, once it exists.
  status integer,
  headers json,
  body text,
  request_id text,
  -- The body for API keys that may not see identifiers, if it differs.
  masked_body text,
  -- In place of an answer: what a service recorded in the transaction that claimed the key, and the revision that the
  -- answer was made for. The operation has the id of what was recorded.
  recorded text,
  revision text,
  -- UUIDs of profiles and events in the answer. Redacting one of them deletes the answer. An answer that may name a person
  -- without an id, such as a refusal, has that of the property too.
  subjects uuid[],
  PRIMARY KEY (property_id, key),
  CHECK (num_nulls(status, headers, body, request_id) IN (0, 4)),
  CHECK (masked_body IS NULL OR body IS NOT NULL),
  CHECK (num_nulls(recorded, revision) IN (0, 2)),
  CHECK (recorded IS NULL OR status IS NULL)
);
CREATE INDEX operations_expiry ON identity.operations (expires_at);
-- For the redaction of an event, which deletes what was recorded: the operation has the id of the event.
CREATE INDEX operations_recorded ON identity.operations (property_id, operation_id) WHERE recorded IS NOT NULL;
-- Without a pending list, because one request would have to flush it for many.
CREATE INDEX operations_subjects ON identity.operations USING gin (subjects) WITH (fastupdate = off) WHERE subjects IS NOT NULL;

-- People who may open the dashboard. Few, so those that a property or a role has are found by reading all.
CREATE TABLE identity.members (
  id uuid PRIMARY KEY,
  -- In normal form.
  email text NOT NULL UNIQUE,
  name text NOT NULL,
  -- argon2id in PHC form; null for a member who signs in by an issuer only.
  password_hash text,
  -- The OpenID Connect issuer that she is bound to, and who she is there.
  issuer text,
  subject text,
  -- [{"property_id": a UUID, or null for all properties, "role": "viewer"}]
  grants jsonb NOT NULL,
  is_admin boolean GENERATED ALWAYS AS (grants @> '[{"property_id": null, "role": "admin"}]') STORED,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz,
  UNIQUE (issuer, subject),
  CHECK (num_nulls(issuer, subject) IN (0, 2))
) WITH (fillfactor = 70);
CREATE INDEX members_admins ON identity.members (id) WHERE is_admin;

-- Open setup links and invitations. One that is used, replaced or revoked is deleted.
CREATE TABLE identity.member_links (
  id uuid PRIMARY KEY,
  -- SHA-256; the token is not stored.
  token_hash bytea NOT NULL UNIQUE,
  -- Whom it is for; null for the setup link.
  email text UNIQUE,
  -- As in members; empty keeps those of a member whom there is.
  grants jsonb NOT NULL,
  -- The member who made it; null for an operator.
  invited_by uuid,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE TABLE identity.member_sessions (
  id uuid PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES identity.members (id) ON DELETE CASCADE,
  -- SHA-256; the token is not stored.
  token_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  -- Written about once a minute. Without an index, so that a row is updated in place.
  last_used_at timestamptz NOT NULL,
  -- Until when sensitive acts are allowed.
  fresh_until timestamptz NOT NULL,
  address text NOT NULL,
  user_agent text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX member_sessions_member ON identity.member_sessions (member_id, id);

-- Attempts at passwords, counted before each is checked. See members/attempts.ts.
CREATE TABLE identity.password_attempts (
  -- SHA-256 of an email, a client address, or both.
  subject bytea PRIMARY KEY,
  -- Since the last right one.
  failures integer NOT NULL CHECK (failures >= 0),
  -- No attempt is checked before.
  blocked_until timestamptz NOT NULL,
  attempted_at timestamptz NOT NULL,
  -- Of an email and an address: until when the member counts as known there.
  known_until timestamptz
) WITH (fillfactor = 50);
CREATE INDEX password_attempts_age ON identity.password_attempts (attempted_at);

-- Who did what in the dashboard, and who downloaded what is kept of a person. Rows are never changed, and deleted after two years.
CREATE TABLE identity.audit (
  -- A UUIDv7, so that entries sort by time.
  id uuid PRIMARY KEY,
  at timestamptz NOT NULL,
  -- Without a foreign key: entries stay when a member goes. Null for an operator, and for a program.
  member_id uuid,
  member_email text,
  -- The TypeID of the key or the installation of a program.
  actor_id text,
  property_id uuid,
  action text NOT NULL,
  -- TypeIDs.
  target_ids text[] NOT NULL,
  address text NOT NULL,
  request_id text NOT NULL,
  succeeded boolean NOT NULL,
  CHECK (member_id IS NULL OR actor_id IS NULL)
);
CREATE INDEX audit_member ON identity.audit (member_id, id) WHERE member_id IS NOT NULL;
CREATE INDEX audit_property ON identity.audit (property_id, id) WHERE property_id IS NOT NULL;
CREATE INDEX audit_action ON identity.audit (action, id);
CREATE INDEX audit_targets ON identity.audit USING gin (target_ids);

-- Partner apps. Few, so those with some property are found by their installations.
CREATE TABLE identity.apps (
  -- The client_id of OAuth is its TypeID.
  id uuid PRIMARY KEY,
  name text NOT NULL,
  description text NOT NULL,
  homepage_url text,
  redirect_uris text[] NOT NULL,
  scopes text[] NOT NULL,
  type text NOT NULL CHECK (type IN ('confidential', 'public')),
  status text NOT NULL CHECK (status IN ('active', 'suspended')),
  -- Where messages about its installations go, and of which types.
  webhook_url text,
  webhook_types text[],
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((webhook_url IS NULL) = (webhook_types IS NULL))
);
CREATE INDEX apps_updated ON identity.apps (updated_at);

-- At most two of a confidential app, and none of a public one.
CREATE TABLE identity.app_secrets (
  app_id uuid NOT NULL REFERENCES identity.apps (id),
  id uuid NOT NULL,
  -- SHA-256; the secret is not stored.
  secret_hash bytea NOT NULL,
  display_prefix text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (app_id, id)
);

-- The access of an app to a property. A new consent keeps the row.
CREATE TABLE identity.installations (
  property_id uuid NOT NULL REFERENCES identity.properties (id),
  id uuid NOT NULL,
  app_id uuid NOT NULL REFERENCES identity.apps (id),
  scopes text[] NOT NULL,
  revision text NOT NULL,
  -- Names the last consent. Tokens of an earlier one open nothing.
  grant_id uuid NOT NULL UNIQUE,
  revoked_reason text CHECK (revoked_reason IN ('uninstalled', 'token_reuse', 'app', 'suspended', 'operator')),
  -- A member, without a foreign key: an installation outlasts her.
  installed_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  revoked_at timestamptz,
  PRIMARY KEY (property_id, id),
  UNIQUE (property_id, app_id),
  CHECK (num_nulls(revoked_reason, revoked_at) IN (0, 2))
);
CREATE INDEX installations_app ON identity.installations (app_id, id);
-- Whoever sends webhooks reads all of them once, and then what has changed.
CREATE INDEX installations_id ON identity.installations (id);
CREATE INDEX installations_updated ON identity.installations (updated_at);

-- Codes, tokens and requests of the authorization server in the gateways.
CREATE TABLE identity.oauth_artifacts (
  kind text NOT NULL CHECK (kind IN ('code', 'access_token', 'refresh_token', 'interaction', 'pushed_request')),
  -- SHA-256; codes and tokens are not stored.
  id_hash bytea NOT NULL,
  payload text NOT NULL,
  -- Of codes and tokens.
  grant_id uuid,
  -- Of access tokens.
  scopes text[],
  -- The refresh token that it was given for.
  predecessor_hash bytea,
  expires_at timestamptz NOT NULL,
  consumed_at timestamptz,
  -- First use of an access token.
  used_at timestamptz,
  PRIMARY KEY (kind, id_hash)
);
-- With the expiry, so that what ends first of a grant is found without a sort.
CREATE INDEX oauth_artifacts_grant ON identity.oauth_artifacts (grant_id, kind, expires_at) WHERE grant_id IS NOT NULL;
CREATE INDEX oauth_artifacts_predecessor ON identity.oauth_artifacts (predecessor_hash) WHERE predecessor_hash IS NOT NULL;
CREATE INDEX oauth_artifacts_expiry ON identity.oauth_artifacts (expires_at);
