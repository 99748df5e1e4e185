/** The parts of every service, and what it is created with. */
import type { ConnectRouter } from "@connectrpc/connect";
import type { Registry } from "prom-client";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../values/clock.ts";
import type { Log } from "./log.ts";
import type { OutboxRelay } from "../outbox/outbox.ts";
import type { Database } from "../database/postgres.ts";
import type { FindClient } from "../rpc/admission.ts";
import type { Reads } from "../database/reads.ts";

/** Registers the RPCs of a service. */
export type Routes = (router: ConnectRouter) => void;

/** The dependencies of every service. */
export interface ServiceContext {
  /** For writes and background work. */
  database: Database;
  /** For reads on behalf of callers. */
  reads: Reads;
  bus: Bus;
  clock: Clock;
  log: Log;
  registry: Registry;
}

/** A service, in a process of its own or with others. */
export interface Service {
  routes: Routes;
  /** Finds internal clients, if it has them; other processes ask it. */
  findClient?: FindClient;
  /** The relay of its outbox, if it has one. */
  outbox?: OutboxRelay;
  /** Migrates its schema and starts. Its RPCs work from then on. A failed start leaves nothing running, for a retry. */
  start(): Promise<void>;
  /** Rejects while it cannot do its work. */
  checkReady: () => Promise<void>;
  /** Stops its work in order. The database and the bus are not its own and stay open. */
  close(): Promise<void>;
}
