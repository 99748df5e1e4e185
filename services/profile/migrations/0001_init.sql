CREATE TABLE profile.profiles (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'merged', 'redacted')),
  -- json, not jsonb: numbers and the order of keys come back as they were sent.
  attributes json NOT NULL DEFAULT '{}',
  tags text[] NOT NULL DEFAULT '{}',
  location jsonb,
  merged_into uuid,
  -- One up for each write of anything that the profile shows.
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (property_id, id),
  CHECK ((status = 'merged') = (merged_into IS NOT NULL))
);

CREATE TABLE profile.identifiers (
  property_id uuid NOT NULL,
  type text NOT NULL,
  value text NOT NULL,
  id uuid NOT NULL,
  profile_id uuid NOT NULL,
  is_primary boolean NOT NULL DEFAULT false,
  verified_at timestamptz,
  source text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- An identifier belongs to one profile of its property.
  PRIMARY KEY (property_id, type, value),
  -- Finds those of a profile, oldest first.
  UNIQUE (property_id, profile_id, id),
  FOREIGN KEY (property_id, profile_id) REFERENCES profile.profiles (property_id, id)
);

-- A profile has one primary identifier of a type at the most.
CREATE UNIQUE INDEX identifiers_primary ON profile.identifiers (property_id, profile_id, type) WHERE is_primary;
