-- A row stays until its message was taken. One that is published says where: in which incarnation of the stream (the instant that it was made,
-- as the server writes it), and at which sequence. available_at is then the time of publishing.
ALTER TABLE event.outbox
  ADD COLUMN incarnation text,
  ADD COLUMN sequence bigint,
  -- Why the message was refused the last time.
  ADD COLUMN failure text,
  ADD CHECK ((incarnation IS NULL) = (sequence IS NULL));
-- Each row is in one of the two.
CREATE INDEX outbox_waiting ON event.outbox (id) WHERE sequence IS NULL;
CREATE INDEX outbox_published ON event.outbox (subject, incarnation, sequence) WHERE sequence IS NOT NULL;
DROP INDEX event.outbox_order;
