/** The connections of the listener: how many there may be, and what each of them is doing. */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Counter, type Registry } from "prom-client";
import { clientOf, type IsTrusted } from "./addresses.ts";
import type { ListenerLimits } from "./limits.ts";

/** One connection. */
export interface Connection {
  readonly socket: Socket;
  /** The answer that is being made or sent; null while there is none. */
  answer: ServerResponse | null;
  /** Requests that came behind that one, in their order: each begins when the one before is answered. */
  readonly waiting: (() => void)[];
  /** By performance.now(): since when it has had nothing to do. */
  quietSinceMs: number;
  /** What had been read of it then; more than that is the beginning of a request. */
  quietBytesRead: number;
}

/** The open connections of a listener. */
export interface Connections {
  readonly all: ReadonlyMap<Socket, Connection>;
  /** When the last one was accepted, by performance.now(). */
  readonly acceptedAtMs: number;
  /** Takes charge of the connections that a server accepts. */
  watch(server: Server): void;
}

const keepAliveTimeoutMs = 72_000;
// When most connections are taken, those that do nothing make room sooner.
const crowdedShare = 0.75;
const crowdedKeepAliveTimeoutMs = 5_000;

/** @param isTrusted tells the proxies, which bring connections of many clients. */
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
  const all = new Map<Socket, Connection>();
  const perAddress = new Map<string, number>();
  let acceptedAtMs = 0;

  /** @returns whether the address may have one more; if so it is counted. */
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
