-- Keys are stored as digests, as they may tell of a person: see key-digest.ts.
UPDATE identity.operations SET key = translate(rtrim(encode(sha256(convert_to(key, 'UTF8')), 'base64'), '='), '+/', '-_');
ALTER TABLE identity.operations
  -- The body for API keys that may not see values of identifiers, where it is another.
  ADD COLUMN masked_body text,
  -- UUIDs of the profiles and events that the answer names: it goes when one of them is redacted.
  ADD COLUMN subjects uuid[],
  ADD CHECK (masked_body IS NULL OR body IS NOT NULL);
-- Without the list of pending entries, which one request would have to work off for many.
CREATE INDEX operations_subjects ON identity.operations USING gin (subjects) WITH (fastupdate = off) WHERE subjects IS NOT NULL;
