-- How many metrics of a property were registered by callers, which has a limit. Whoever registers one holds the row until it is done.
CREATE TABLE metric.registrations (
  property_id uuid PRIMARY KEY,
  count integer NOT NULL
);
