-- Keys are stored as digests, as they may tell of a person: see key-digest.ts. Those of kind unique_id are digests already.
UPDATE event.dedupe_keys SET key = translate(rtrim(encode(sha256(convert_to(key, 'UTF8')), 'base64'), '='), '+/', '-_')
WHERE kind <> 'unique_id';
