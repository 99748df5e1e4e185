/** Ids in the examples of both surfaces. */
export const exampleIds = {
  profile: "prof_01jz8w3n5k7q9s1t2v4x6y8z0a",
  otherProfile: "prof_01jz8w3n5k7q9s1t2v4x6y8z0b",
  identifier: "idnt_01jz8w3n5k7q9s1t2v4x6y8z0c",
  event: "evt_01jz8w3n5k7q9s1t2v4x6y8z0d",
  metric: "mtr_01jz8w3n5k7q9s1t2v4x6y8z0e",
  request: "req_01jz8w3n5k7q9s1t2v4x6y8z0f",
  property: "prop_01jz8w3n5k7q9s1t2v4x6y8z0g",
  key: "key_01jz8w3n5k7q9s1t2v4x6y8z0h",
  job: "job_01jz8w3n5k7q9s1t2v4x6y8z0j",
  app: "app_01jz8w3n5k7q9s1t2v4x6y8z0k",
  installation: "inst_01jz8w3n5k7q9s1t2v4x6y8z0m",
  member: "mem_01jz8w3n5k7q9s1t2v4x6y8z0n",
} as const;
