-- A unique_id is held for good: its expires_at is infinity.
ALTER TABLE event.dedupe_keys
  DROP CONSTRAINT dedupe_keys_kind_check,
  ADD CONSTRAINT dedupe_keys_kind_check CHECK (kind IN ('dedupe_id', 'idempotency_key', 'unique_id'));
