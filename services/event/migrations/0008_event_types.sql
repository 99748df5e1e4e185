-- Each type makes a metric, so a property has a limited number of them.
CREATE TABLE event.types (
  property_id uuid NOT NULL,
  type text NOT NULL,
  PRIMARY KEY (property_id, type)
);

-- How many rows of event.types a property has. Its row is locked by whoever adds some.
CREATE TABLE event.type_counts (
  property_id uuid PRIMARY KEY,
  count integer NOT NULL
);
