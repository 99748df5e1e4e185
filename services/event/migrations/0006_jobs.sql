-- Events that are recorded in the background. A job is processed chunk by chunk, and deleted after 7 days.
CREATE TABLE event.jobs (
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
CREATE INDEX jobs_unfinished ON event.jobs (property_id) WHERE completed_at IS NULL;
CREATE INDEX jobs_created ON event.jobs (created_at);

CREATE TABLE event.job_chunks (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  chunk integer NOT NULL,
  -- Its items as protobuf, each with the id of its event; null once it is finished.
  payload bytea,
  PRIMARY KEY (property_id, job_id, chunk),
  FOREIGN KEY (property_id, job_id) REFERENCES event.jobs (property_id, id) ON DELETE CASCADE
);
