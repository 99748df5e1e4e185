-- Properties that have or had endpoints. The row is locked while endpoints are counted.
CREATE TABLE webhook.properties (
  property_id uuid PRIMARY KEY,
  livemode boolean NOT NULL,
  -- How often messages were emptied: what processes have in memory to send may be among them.
  emptied_count bigint NOT NULL DEFAULT 0
);

-- Where messages of a property are sent.
CREATE TABLE webhook.endpoints (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  description text NOT NULL,
  -- '*' alone stands for all.
  types text[] NOT NULL,
  -- What events; empty for all. 'order.*' stands for a prefix.
  event_types text[] NOT NULL DEFAULT '{}',
  sources text[] NOT NULL DEFAULT '{}',
  -- Names are shown. The sealed JSON [{"name": …, "value": …}] is not.
  header_names text[] NOT NULL DEFAULT '{}',
  headers bytea,
  rate_limit_per_second integer CHECK (rate_limit_per_second > 0),
  status text NOT NULL CHECK (status IN ('enabled', 'disabled')),
  disabled_reason text CHECK (disabled_reason IN ('manual', 'failing', 'gone', 'owner_ended')),
  disabled_at timestamptz,
  -- It was disabled, and its deliveries are still to be cancelled, and the other endpoints to be told.
  is_unsettled boolean NOT NULL DEFAULT false,
  -- The last message of an endpoint of an app: once it is not pending any more, the endpoint is disabled.
  last_delivery_id uuid,
  revision text NOT NULL,
  -- A TypeID, or the name of an internal caller.
  created_by text NOT NULL,
  -- The key or installation with which it ends; null for an endpoint of the property itself.
  owner_id uuid,
  owner_kind text CHECK (owner_kind IN ('key', 'inst')),
  -- The app whose endpoint it is.
  app_id uuid,
  -- Sealed; null for an endpoint of an app, whose secret stands in app_secrets.
  secret bytea,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- What rotated it last: the same operation again changes nothing.
  rotation_id uuid,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id),
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL)),
  CHECK ((status = 'disabled') = (disabled_at IS NOT NULL)),
  CHECK ((owner_id IS NULL) = (owner_kind IS NULL)),
  CHECK ((app_id IS NULL) = (secret IS NOT NULL)),
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);
CREATE INDEX endpoints_owned ON webhook.endpoints (property_id, id)
  WHERE owner_id IS NOT NULL AND app_id IS NULL AND status = 'enabled';
CREATE INDEX endpoints_unsettled ON webhook.endpoints (property_id, id) WHERE is_unsettled;
CREATE INDEX endpoints_ending ON webhook.endpoints (property_id, id) WHERE last_delivery_id IS NOT NULL;

-- Endpoints that were deleted, while their deliveries are.
CREATE TABLE webhook.deleted_endpoints (
  property_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  PRIMARY KEY (property_id, endpoint_id)
);

-- How endpoints get on. Not in endpoints, because it is written often.
CREATE TABLE webhook.endpoint_health (
  property_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  last_success_at timestamptz,
  -- Since the last success; null after it.
  failing_since timestamptz,
  failures integer NOT NULL DEFAULT 0,
  -- On how many days (UTC) there were failures since then, and the last of them.
  failing_days integer NOT NULL DEFAULT 0,
  failed_on date,
  -- The breaker is open until then, and how long it was opened for.
  paused_until timestamptz,
  pause_seconds integer,
  -- The second since 1970 in which messages were last sent to an endpoint with a rate limit, and how many of them.
  rate_second bigint,
  rate_taken integer,
  PRIMARY KEY (property_id, endpoint_id),
  FOREIGN KEY (property_id, endpoint_id) REFERENCES webhook.endpoints (property_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- The secrets of apps with a webhook, sealed. Few, and the same in every property.
CREATE TABLE webhook.app_secrets (
  app_id uuid PRIMARY KEY,
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz,
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);

-- What is sent, rendered once for each revision that an endpoint has.
CREATE TABLE webhook.messages (
  property_id uuid NOT NULL,
  -- Made of the type and the source, so that what happened once is one message.
  id uuid NOT NULL,
  revision text NOT NULL,
  type text NOT NULL,
  -- The event that it tells of, and the profile whose data it holds, if it does.
  event_id uuid,
  profile_id uuid,
  -- Null once it was emptied.
  body text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id, revision)
);
CREATE INDEX messages_event ON webhook.messages (property_id, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX messages_reports ON webhook.messages (property_id, id)
  WHERE type = 'rejected_writes.reported' AND body IS NOT NULL;
CREATE INDEX messages_profile ON webhook.messages (property_id, profile_id, id) WHERE profile_id IS NOT NULL;
CREATE INDEX messages_anonymous ON webhook.messages (property_id, id)
  WHERE event_id IS NOT NULL AND profile_id IS NULL AND body IS NOT NULL;
CREATE INDEX messages_created ON webhook.messages (property_id, created_at, id);

CREATE TABLE webhook.deliveries (
  property_id uuid NOT NULL,
  -- Made of the message and the endpoint, or of the message and the replay.
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  message_id uuid NOT NULL,
  revision text NOT NULL,
  type text NOT NULL,
  trigger text NOT NULL CHECK (trigger IN ('live', 'replay', 'manual', 'test')),
  status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
  attempts integer NOT NULL DEFAULT 0,
  -- When it is due, or until when the process that sends it has it; null once it is not pending.
  due_at timestamptz,
  response_status integer,
  error text,
  -- [{"at": …, "duration_ms": …, "status": …, "error": …, "excerpt": …}]
  attempt_log jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  completed_at timestamptz,
  -- No foreign key: an endpoint is gone at once, and its deliveries, which may be millions, soon after.
  PRIMARY KEY (property_id, id),
  CHECK ((status = 'pending') = (due_at IS NOT NULL))
);
CREATE INDEX deliveries_due ON webhook.deliveries (property_id, endpoint_id, due_at) WHERE status = 'pending';
CREATE INDEX deliveries_created ON webhook.deliveries (property_id, created_at, id);
CREATE INDEX deliveries_endpoint ON webhook.deliveries (property_id, endpoint_id, created_at, id);
CREATE INDEX deliveries_failed ON webhook.deliveries (property_id, endpoint_id, created_at, id)
  WHERE status IN ('failed', 'cancelled');
CREATE INDEX deliveries_tests ON webhook.deliveries (property_id, endpoint_id, created_at) WHERE trigger = 'test';
CREATE INDEX deliveries_message ON webhook.deliveries (property_id, message_id);

CREATE TABLE webhook.replays (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  types text[] NOT NULL,
  only_failed boolean NOT NULL,
  status text NOT NULL CHECK (status IN ('processing', 'complete', 'cancelled')),
  -- Where it goes on, in a form of its own.
  position jsonb,
  deliveries bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  PRIMARY KEY (property_id, id),
  FOREIGN KEY (property_id, endpoint_id) REFERENCES webhook.endpoints (property_id, id) ON DELETE CASCADE
);
-- One of an endpoint at a time.
CREATE UNIQUE INDEX replays_processing ON webhook.replays (property_id, endpoint_id) WHERE status = 'processing';

-- Profiles that were redacted, so that what comes late of them is not kept.
CREATE TABLE webhook.redacted_profiles (
  property_id uuid NOT NULL,
  profile_id uuid NOT NULL,
  redacted_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, profile_id)
);
CREATE INDEX redacted_profiles_redacted ON webhook.redacted_profiles (property_id, redacted_at);

-- Anonymous events that gained a profile, for messages of them that are made late.
CREATE TABLE webhook.linked_events (
  property_id uuid NOT NULL,
  event_id uuid NOT NULL,
  profile_id uuid NOT NULL,
  linked_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, event_id)
);
CREATE INDEX linked_events_linked ON webhook.linked_events (property_id, linked_at);
