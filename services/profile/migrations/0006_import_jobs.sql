-- Imports of many profiles. A job is processed chunk by chunk, and deleted after 7 days.
CREATE TABLE profile.import_jobs (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  total_count integer NOT NULL,
  completed_count integer NOT NULL DEFAULT 0,
  failed_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  completed_at timestamptz,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX import_jobs_unfinished ON profile.import_jobs (property_id) WHERE completed_at IS NULL;
CREATE INDEX import_jobs_created ON profile.import_jobs (created_at);

CREATE TABLE profile.import_chunks (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  chunk integer NOT NULL,
  -- Its items as protobuf; null once it is finished, so that nothing more is kept of them than what became of them.
  payload bytea,
  PRIMARY KEY (property_id, job_id, chunk),
  FOREIGN KEY (property_id, job_id) REFERENCES profile.import_jobs (property_id, id) ON DELETE CASCADE
);

-- What was written.
CREATE TABLE profile.import_profiles (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  profile_id uuid NOT NULL,
  PRIMARY KEY (property_id, job_id, profile_id),
  FOREIGN KEY (property_id, job_id) REFERENCES profile.import_jobs (property_id, id) ON DELETE CASCADE
);

-- What was refused.
CREATE TABLE profile.import_errors (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  item integer NOT NULL,
  id uuid NOT NULL,
  -- The error as protobuf.
  error bytea NOT NULL,
  original_json text NOT NULL,
  PRIMARY KEY (property_id, job_id, item),
  FOREIGN KEY (property_id, job_id) REFERENCES profile.import_jobs (property_id, id) ON DELETE CASCADE
);
