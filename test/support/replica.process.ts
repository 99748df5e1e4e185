/** Answers health checks at HOST and PORT, each after DELAY_MS, so that it can be killed or stopped meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";

const { HOST: host = "", PORT: port = "", CREDENTIAL: credential = "", DELAY_MS: delayMs = "0" } = process.env;
const server = await serveRpc({
  routes: (router) => {
    router.service(HealthService, {
      async checkHealth(_request, context) {
        await sleep(Number(delayMs));
        context.responseHeader.set("x-replica", host);
        return {};
      },
    });
  },
  credentials: [credential],
  host,
  port: Number(port),
  log: createLog("replica", "silent"),
  registry: createRegistry(),
});
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
process.stdout.write("serving\n");
