/** The identity service within a test: with a clock that the test moves, and signals that it hears. */
import type { Client, Transport } from "@connectrpc/connect";
import type { Registry } from "prom-client";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { createLocalBus } from "#shared/bus/local.ts";
import { createLocalSignals, type Signals } from "#shared/bus/signals.ts";
import { openServiceDatabase } from "#shared/database/reads.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { bindable, createServiceClient, type BoundClient } from "#shared/rpc/clients.ts";
import { inProcessTransport } from "#shared/rpc/in-process.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import type { Clock } from "#shared/values/clock.ts";
import { forget } from "../../services/identity/maintenance.ts";
import { createIdentity } from "../../services/identity/service.ts";
import { testCall } from "./daybook.ts";

export interface TestIdentity {
  transport: Transport;
  members: BoundClient<Client<typeof MemberService>>;
  apps: BoundClient<Client<typeof AppService>>;
  oauth: BoundClient<Client<typeof OAuthService>>;
  signals: Signals;
  registry: Registry;
  /** Deletes what is over by the clock. */
  forget(): Promise<void>;
}

/** Starts a replica of the service over a database. */
export async function startIdentity(owner: Owner, databaseUrl: string, clock: Clock): Promise<TestIdentity> {
  const log = createLog("test", "error");
  const registry = createRegistry();
  const signals = createLocalSignals(log);
  const connections = { writes: 4, reads: 1 };
  const pools = openServiceDatabase({ url: databaseUrl, name: "identity", connections, log });
  owner.defer(() => pools.end());
  const { database, reads } = pools;
  const context = { database, reads, bus: createLocalBus(log), clock, log, registry, signals };
  const secrets = { live: `sk_live_${"a".repeat(40)}`, test: `sk_test_${"a".repeat(40)}` };
  const service = owner.own(createIdentity(context, { bootstrapKeys: secrets }));
  await service.start();
  const transport = inProcessTransport(service.routes, log, registry);
  return {
    transport,
    members: bindable(createServiceClient(MemberService, transport))(testCall),
    apps: bindable(createServiceClient(AppService, transport))(testCall),
    oauth: bindable(createServiceClient(OAuthService, transport))(testCall),
    signals,
    registry,
    forget: () => forget(context),
  };
}
