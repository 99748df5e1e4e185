/**
 * The figures of Operate and the names that Prometheus has for them; a test looks for each in what processes expose. It
 * holds data only, so that tests can load it outside a browser.
 */

export const figures = {
  ready: { title: "State", name: "daybook_service_reachable" },
  version: { title: "Version", name: "daybook_build_info" },
  started: { title: "Started", name: "process_start_time_seconds" },
  unpublished: { title: "Unpublished", name: "daybook_outbox_rows" },
  published: { title: "Published, not taken", name: "daybook_outbox_published_rows" },
  lag: { title: "Lag", name: "daybook_consumer_lag_messages" },
  redelivered: { title: "Redelivered", name: "daybook_consumer_redelivered_messages" },
  deadLetters: { title: "Dead letters", name: "daybook_dead_letters" },
} as const;

/** What to read when something is wrong: a page of the documentation, and its heading. */
export const advice = {
  process: { page: "docs/operating/failures.md", heading: "A process is away" },
  versions: { page: "docs/operating/failures.md", heading: "An upgrade stops half way" },
  bus: { page: "docs/operating/failures.md", heading: "NATS is away" },
  consumer: { page: "docs/operating/failures.md", heading: "A consumer falls behind" },
  deadLetters: { page: "docs/operating/bus.md", heading: "Dead letters" },
  outbox: { page: "docs/operating/bus.md", heading: "Rules" },
  rollups: { page: "docs/operating/running.md", heading: "The command line" },
} as const;
