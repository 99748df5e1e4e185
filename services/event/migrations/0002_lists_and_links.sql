-- The orders of a list.
CREATE INDEX events_occurred ON event.events (property_id, occurred_at, id);
CREATE INDEX events_received ON event.events (property_id, received_at, id);
CREATE INDEX events_profile ON event.events (property_id, profile_id, occurred_at, id) WHERE profile_id IS NOT NULL;
-- Finds anonymous events when a profile gains their identifier.
CREATE INDEX events_identifier ON event.events (property_id, identifier_type, identifier_value) WHERE identifier_type IS NOT NULL;
