/** How services reach each other over HTTP/2. Within one process they do as in-process.ts tells. */
import type { ConnectRouter, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { showCredential, tellCall } from "./interceptors.ts";
import type { Bus } from "./bus.ts";
import { busRoutes } from "./bus-operator.ts";
import type { Service } from "./service.ts";
import { createSessions, repeatRefused } from "./sessions.ts";

/** The RPCs of a service. */
export type Routes = (router: ConnectRouter) => void;

/** All that a service answers to: its own RPCs, whether it is well, and what operators ask of its outbox. */
export function serviceRoutes(service: Service, bus: Bus): Routes {
  return (router) => {
    service.routes(router);
    if (service.outbox) busRoutes(bus, [service.outbox])(router);
    router.service(HealthService, {
      async checkHealth() {
        await service.checkReady();
        return {};
      },
    });
  };
}

/** Bytes of one request: a batch of the largest size, with room for its envelope. */
export const requestBytesMax = 16 * 1024 * 1024;

/**
 * Megabytes of one connection's calls that are on their way. A call beyond would be refused, however small, and all calls between two processes
 * share a connection; how many there are and how large is limited where they are made.
 */
export const sessionMegabytesMax = 1024;

/** Calls the service at `url` over HTTP/2 without TLS. */
export function http2Transport(url: string, credential: string): Transport {
  return createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    interceptors: [tellCall, showCredential(credential), repeatRefused],
    // Within one cluster the time to compress costs more than the bytes saved.
    acceptCompression: [],
    sessionManager: createSessions(url, { maxSessionMemory: sessionMegabytesMax }),
  });
}
