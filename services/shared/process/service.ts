/** What every service is made of, and what it is made from. */
import type { ConnectRouter } from "@connectrpc/connect";
import type { Registry } from "prom-client";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../values/clock.ts";
import type { Log } from "./log.ts";
import type { OutboxRelay } from "../outbox/outbox.ts";
import type { Database } from "../database/postgres.ts";
import type { Reads } from "../database/reads.ts";

/** The RPCs of a service. */
export type Routes = (router: ConnectRouter) => void;

/** What a service is given to work with. */
export interface ServiceContext {
  /** For writes, and for what the service does by itself. */
  database: Database;
  /** For what callers read. */
  reads: Reads;
  bus: Bus;
  clock: Clock;
  log: Log;
  registry: Registry;
}

/** A service, in whatever process it runs. */
export interface Service {
  /** Its RPCs. */
  routes: Routes;
  /** What publishes its messages, if it has any. */
  outbox?: OutboxRelay;
  /**
   * Brings its schema up to date and begins its work. Its RPCs may be called from then on. When it fails it has begun nothing, and may be
   * called again.
   */
  start(): Promise<void>;
  /** Rejects while it cannot do its work. */
  checkReady: () => Promise<void>;
  /** Ends its work in order. The database and the bus are not its own and stay open. */
  close(): Promise<void>;
}
