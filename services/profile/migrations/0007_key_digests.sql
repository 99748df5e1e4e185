-- Keys of items are stored as digests, as they may tell of a person: see key-digest.ts.
UPDATE profile.item_keys SET key = translate(rtrim(encode(sha256(convert_to(key, 'UTF8')), 'base64'), '='), '+/', '-_');
