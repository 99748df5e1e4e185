-- The orders of a list. The condition holds for every row: it is there so that only who says it, as the lists do, can use them. Without
-- statistics an index of the lists was measured to be taken for the primary key.
CREATE INDEX events_occurred ON event.events (property_id, occurred_at, id) WHERE occurred_at > '-infinity';
CREATE INDEX events_received ON event.events (property_id, received_at, id) WHERE received_at > '-infinity';
CREATE INDEX events_type ON event.events (property_id, type, occurred_at, id) WHERE occurred_at > '-infinity';
-- Nearly all events come from the API, and a list of those finds them anywhere.
CREATE INDEX events_source ON event.events (property_id, source, occurred_at, id) WHERE source <> 'api';
CREATE INDEX events_profile ON event.events (property_id, profile_id, occurred_at, id) WHERE profile_id IS NOT NULL;
-- Finds anonymous events when a profile gains their identifier.
CREATE INDEX events_identifier ON event.events (property_id, identifier_type, identifier_value) WHERE identifier_type IS NOT NULL;
