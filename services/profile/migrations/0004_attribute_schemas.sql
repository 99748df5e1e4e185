-- What the attributes of a property's profiles were seen to be.
CREATE TABLE profile.attribute_schemas (
  property_id uuid PRIMARY KEY,
  -- {"<path>": "<type>"}
  schema jsonb NOT NULL DEFAULT '{}',
  -- Whether profiles that were written before writes were learned from have been looked at.
  looked_back boolean NOT NULL DEFAULT false
);
