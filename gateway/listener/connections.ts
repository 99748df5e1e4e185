/** The connections of the listener: their limits and their state. */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Counter, type Registry } from "prom-client";
import { clientOf } from "#shared/values/client-address.ts";
import type { IsTrusted } from "./addresses.ts";
import type { ListenerLimits } from "./limits.ts";

export interface Connection {
  readonly socket: Socket;
  /** The answer in progress, or null. */
  answer: ServerResponse | null;
  /** Pipelined requests in order. Each starts when the one before it is answered. */
  readonly waiting: (() => void)[];
  /** Idle since, by performance.now(). */
  quietSinceMs: number;
  /** Bytes read by then. More bytes mean that a request has begun. */
  quietBytesRead: number;
}

export interface Connections {
  readonly all: ReadonlyMap<Socket, Connection>;
  /** Time of the last accept, by performance.now(). */
  readonly acceptedAtMs: number;
  /** Tracks the connections that a server accepts. */
  watch(server: Server): void;
}

const keepAliveTimeoutMs = 72_000;
// Above this share of the limit idle connections are closed sooner.
const crowdedShare = 0.75;
const crowdedKeepAliveTimeoutMs = 5_000;

/** @param isTrusted proxies have no limit per address, because they carry many clients. */
export function createConnections(
  { connectionsMax, connectionsPerAddressMax }: ListenerLimits,
  isTrusted: IsTrusted,
  registry: Registry,
): Connections {
  const dropped = new Counter({
    name: "daybook_http_connections_dropped_total",
    help: "Connections that were closed unread, because there were too many in all or from one address.",
    labelNames: ["limit"],
    registers: [registry],
  });
  // Prometheus sees no increase from a series that was absent.
  for (const limit of ["all", "address"]) dropped.inc({ limit }, 0);
  const all = new Map<Socket, Connection>();
  const perAddress = new Map<string, number>();
  let acceptedAtMs = 0;

  /** Counts a connection, unless it is a proxy's. @returns false, uncounted, if its address has too many. */
  function count(socket: Socket): boolean {
    if (isTrusted(socket.remoteAddress)) return true;
    const client = clientOf(socket.remoteAddress);
    const open = perAddress.get(client) ?? 0;
    if (open >= connectionsPerAddressMax) return false;
    perAddress.set(client, open + 1);
    socket.once("close", () => {
      const left = (perAddress.get(client) ?? 1) - 1;
      if (left > 0) perAddress.set(client, left);
      else perAddress.delete(client);
    });
    return true;
  }

  return {
    all,
    get acceptedAtMs() {
      return acceptedAtMs;
    },
    watch(server) {
      const adjust = (): void => {
        const isCrowded = all.size > crowdedShare * connectionsMax;
        server.keepAliveTimeout = isCrowded ? crowdedKeepAliveTimeoutMs : keepAliveTimeoutMs;
      };
      adjust();
      server.maxConnections = connectionsMax;
      server.on("drop", () => dropped.inc({ limit: "all" }));
      server.on("connection", (socket) => {
        acceptedAtMs = performance.now();
        if (!count(socket)) {
          dropped.inc({ limit: "address" });
          socket.destroy();
          return;
        }
        all.set(socket, { socket, answer: null, waiting: [], quietSinceMs: acceptedAtMs, quietBytesRead: 0 });
        adjust();
        socket.once("close", () => {
          all.delete(socket);
          adjust();
        });
      });
    },
  };
}
