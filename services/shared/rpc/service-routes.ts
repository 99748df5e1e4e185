import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import type { Bus } from "../bus/bus.ts";
import { busRoutes } from "../bus/operator.ts";
import { instance } from "../process/instance.ts";
import type { Routes, Service } from "../process/service.ts";
import { version } from "../process/version.ts";
import { toTimestamp } from "../values/time.ts";

/** All RPCs of a service's process: its own, health, and the operator's view of its outbox. */
export function serviceRoutes(name: string, service: Service, bus: Bus): Routes {
  return (router) => {
    service.routes(router);
    if (service.outbox) busRoutes(bus, [service.outbox])(router);
    router.service(HealthService, {
      async checkHealth() {
        await service.checkReady();
        return { name, instanceId: instance.id, version, startedAt: toTimestamp(instance.startedAt) };
      },
    });
  };
}
