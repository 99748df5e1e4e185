-- Events that are recorded behind the answer. A job is done chunk by chunk, and forgotten 7 days after it was made.
CREATE TABLE event.jobs (
  property_id uuid NOT NULL,
  id uuid NOT NULL,
  chunk_count integer NOT NULL,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  PRIMARY KEY (property_id, id)
);
CREATE INDEX jobs_unfinished ON event.jobs (property_id) WHERE completed_at IS NULL;
CREATE INDEX jobs_created ON event.jobs (created_at);

CREATE TABLE event.job_chunks (
  property_id uuid NOT NULL,
  job_id uuid NOT NULL,
  chunk integer NOT NULL,
  -- Its items as protobuf, each with the id of its event; null once it is done.
  payload bytea,
  PRIMARY KEY (property_id, job_id, chunk)
);
