-- Spreads the tables of Daybook over the workers of a Citus. Run it with psql on the coordinator, after the services
-- have migrated and before the first event. It may run again: what is spread stays as it is.
--
-- The tables `migrations` of profile, event, metric and webhook stay on the coordinator.

-- Counts for all tables, which lie together by property: as many as workers will ever share.
SET citus.shard_count = 32;

-- A key is found by its hash before its property is known, so this schema is on one server.
SELECT citus_schema_distribute('identity')
WHERE NOT EXISTS (SELECT FROM citus_schemas WHERE schema_name = 'identity'::regnamespace);

-- The low watermarks of processes, which have no property, are read together with the outbox of a property.
SELECT create_reference_table('event.writers')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.writers'::regclass);

-- A table comes before those that reference it.
SELECT create_distributed_table('profile.profiles', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.profiles'::regclass);

SELECT create_distributed_table('profile.ref_properties', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.ref_properties'::regclass);

SELECT create_distributed_table('profile.identifiers', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.identifiers'::regclass);

SELECT create_distributed_table('profile.merges', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.merges'::regclass);

SELECT create_distributed_table('profile.attribute_schemas', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.attribute_schemas'::regclass);

SELECT create_distributed_table('profile.operations', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.operations'::regclass);

SELECT create_distributed_table('profile.import_jobs', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.import_jobs'::regclass);

SELECT create_distributed_table('profile.import_chunks', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.import_chunks'::regclass);

SELECT create_distributed_table('profile.import_profiles', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.import_profiles'::regclass);

SELECT create_distributed_table('profile.import_errors', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.import_errors'::regclass);

SELECT create_distributed_table('profile.privacy_requests', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.privacy_requests'::regclass);

SELECT create_distributed_table('profile.suppression_keys', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.suppression_keys'::regclass);

SELECT create_distributed_table('profile.suppressions', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.suppressions'::regclass);

SELECT create_distributed_table('profile.outbox', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'profile.outbox'::regclass);

SELECT create_distributed_table('event.events', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.events'::regclass);

SELECT create_distributed_table('event.dedupe_keys', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.dedupe_keys'::regclass);

SELECT create_distributed_table('event.types', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.types'::regclass);

SELECT create_distributed_table('event.type_counts', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.type_counts'::regclass);

SELECT create_distributed_table('event.jobs', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.jobs'::regclass);

SELECT create_distributed_table('event.job_chunks', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.job_chunks'::regclass);

SELECT create_distributed_table('event.job_errors', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.job_errors'::regclass);

SELECT create_distributed_table('event.rejected_properties', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.rejected_properties'::regclass);

SELECT create_distributed_table('event.rejected_counts', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.rejected_counts'::regclass);

SELECT create_distributed_table('event.rejected_reports', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.rejected_reports'::regclass);

SELECT create_distributed_table('event.rejected_told', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.rejected_told'::regclass);

SELECT create_distributed_table('event.rejected_writes', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.rejected_writes'::regclass);

SELECT create_distributed_table('event.rejected_payloads', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.rejected_payloads'::regclass);

SELECT create_distributed_table('event.outbox', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event.outbox'::regclass);

SELECT create_distributed_table('metric.metrics', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.metrics'::regclass);

SELECT create_distributed_table('metric.outbox', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.outbox'::regclass);

SELECT create_distributed_table('metric.registrations', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.registrations'::regclass);

SELECT create_distributed_table('metric.operations', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.operations'::regclass);

SELECT create_distributed_table('metric.properties', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.properties'::regclass);

SELECT create_distributed_table('metric.profiles', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.profiles'::regclass);

SELECT create_distributed_table('metric.merges', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.merges'::regclass);

SELECT create_distributed_table('metric.rollups', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.rollups'::regclass);

SELECT create_distributed_table('metric.rollup_profiles', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.rollup_profiles'::regclass);

SELECT create_distributed_table('metric.open_days', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'metric.open_days'::regclass);

SELECT create_distributed_table('webhook.properties', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.properties'::regclass);

SELECT create_distributed_table('webhook.endpoints', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.endpoints'::regclass);

SELECT create_distributed_table('webhook.deleted_endpoints', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.deleted_endpoints'::regclass);

SELECT create_distributed_table('webhook.endpoint_health', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.endpoint_health'::regclass);

-- The secrets of apps are few, and the same in every property.
SELECT create_reference_table('webhook.app_secrets')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.app_secrets'::regclass);

SELECT create_distributed_table('webhook.messages', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.messages'::regclass);

SELECT create_distributed_table('webhook.deliveries', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.deliveries'::regclass);

SELECT create_distributed_table('webhook.replays', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.replays'::regclass);

SELECT create_distributed_table('webhook.redacted_profiles', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.redacted_profiles'::regclass);

SELECT create_distributed_table('webhook.linked_events', 'property_id', colocate_with => 'default')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'webhook.linked_events'::regclass);
