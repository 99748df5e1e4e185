-- How far each process that records events has come: what it takes from now on is received later than its floor, or is on record.
CREATE TABLE event.recorders (
  id uuid PRIMARY KEY,
  -- infinity: the process is at rest, and says so here before it takes anything.
  floor timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);
-- When the events of a message were received; other messages have none.
ALTER TABLE event.outbox ADD COLUMN received_at timestamptz;
