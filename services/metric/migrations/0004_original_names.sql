ALTER TABLE metric.metrics
  -- The name that its type was derived from, of the event that was received first of those that have one, and when that was.
  ADD COLUMN original_name text,
  ADD COLUMN original_name_at timestamptz,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now(),
  -- When anything that it shows last changed, but for its count.
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
  ADD CHECK ((original_name IS NULL) = (original_name_at IS NULL));
-- Of those that are there their ids tell: a UUIDv7 begins with its milliseconds.
UPDATE metric.metrics
SET created_at = to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0);
