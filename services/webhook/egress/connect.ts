/**
 * Connections to endpoints. A name is looked up once for each, all of its addresses are checked, and only those that
 * passed are connected to, so a name that stands for something else a moment later changes nothing. The check stands at
 * the socket (`blockList` of net.connect), because tls.connect and agents ignore a block list; TLS goes over it.
 */
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { connect as connectTcp, isIP, isIPv6, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { AttemptError } from "./attempt.ts";
import type { Lookup } from "./lookup.ts";
import type { Family, Networks } from "./networks.ts";

/** Why there is no connection. */
export class ConnectFailure extends Error {
  readonly kind: AttemptError;

  constructor(kind: AttemptError, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectFailure";
    this.kind = kind;
  }
}

export interface ConnectOptions {
  networks: Networks;
  lookup: Lookup;
  /** For the look-up, TCP and TLS together. */
  connectTimeoutMs: number;
}

// A name with more is none of a receiver of webhooks.
const addressesMax = 32;

/** Makes a connector for undici. It fails with a ConnectFailure. */
export function createConnector({ networks, lookup, connectTimeoutMs }: ConnectOptions): buildConnector.connector {
  // The environment cannot turn the check of certificates off.
  const upgrade = buildConnector({ allowH2: false, timeout: connectTimeoutMs, rejectUnauthorized: true });

  async function findAddresses(hostname: string, isPlain: boolean, signal: AbortSignal): Promise<LookupAddress[]> {
    const family = isIP(hostname);
    const found = family === 0 ? await lookUp(hostname, signal) : [{ address: hostname, family }];
    const passed = found
      .slice(0, addressesMax)
      .filter(({ address }) => networks.reachOf(address) === "allowed" || (!isPlain && isPublic(address)));
    if (passed.length > 0) return passed;
    throw new ConnectFailure("address_blocked", `${hostname} stands for no address that messages may go to`);
  }

  const isPublic = (address: string): boolean => networks.reachOf(address) === "public";

  async function lookUp(hostname: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const found = await lookup(hostname, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new ConnectFailure("dns_error", `${hostname} has no address`, error);
    });
    signal.throwIfAborted();
    if (found.length === 0) throw new ConnectFailure("dns_error", `${hostname} has no address`);
    return found;
  }

  /** Opens a connection to one of several addresses: those of IPv4 first, then those of IPv6. */
  async function openTcp(hostname: string, port: number, isPlain: boolean, signal: AbortSignal): Promise<Socket> {
    const addresses = await findAddresses(hostname, isPlain, signal);
    const families = (["ipv4", "ipv6"] as const).filter((family) => addresses.some(isOf(family)));
    let failure: ConnectFailure | undefined;
    for (const [index, family] of families.entries()) {
      const timeoutMs = connectTimeoutMs / (families.length - index);
      const opened = await openFamily(hostname, port, addresses.filter(isOf(family)), family, timeoutMs, signal);
      if (!(opened instanceof ConnectFailure)) return opened;
      failure = opened;
    }
    throw failure ?? new ConnectFailure("dns_error", `${hostname} has no address`);
  }

  async function openFamily(
    host: string,
    port: number,
    addresses: readonly LookupAddress[],
    family: Family,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Socket | ConnectFailure> {
    const pinned: LookupFunction = (_hostname, options, callback) => {
      const [first] = addresses;
      if (options.all) callback(null, [...addresses]);
      else callback(null, first?.address ?? "", first?.family);
    };
    // Networks that are allowed are on the list.
    const isGuarded = addresses.every(({ address }) => isPublic(address));
    const guard = isGuarded ? { blockList: networks.blockLists[family] } : {};
    const socket = connectTcp({ host, port, lookup: pinned, autoSelectFamily: true, ...guard });
    const patience = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]);
    try {
      await once(socket, "connect", { signal: patience });
      return socket.on("error", ignore);
    } catch (error) {
      socket.on("error", ignore).destroy();
      signal.throwIfAborted();
      const codes = codesOf(error);
      const isLate = patience.aborted || codes.includes("ETIMEDOUT");
      const kind = codes.includes("ERR_IP_BLOCKED") ? "address_blocked" : isLate ? "timeout" : "connection_refused";
      return new ConnectFailure(kind, `${host} takes no connection`, error);
    }
  }

  async function open(options: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    const { hostname, protocol } = options;
    const isPlain = protocol === "http:";
    const port = Number(options.port || (isPlain ? 80 : 443));
    const tcp = await openTcp(hostname, port, isPlain, signal);
    // What the socket says of itself has the last word.
    if (!isAsChecked(tcp.remoteAddress ?? "", isPlain)) {
      tcp.destroy();
      throw new ConnectFailure("address_blocked", `${hostname} led to an address that messages may not go to`);
    }
    if (isPlain) return tcp.setNoDelay(true);
    return new Promise((resolve, reject) => {
      const stop = (): void => void tcp.destroy();
      signal.addEventListener("abort", stop, { once: true });
      upgrade({ ...options, httpSocket: tcp }, (...[error, socket]) => {
        signal.removeEventListener("abort", stop);
        if (socket) return resolve(socket);
        tcp.destroy();
        reject(
          signal.aborted
            ? (signal.reason as Error)
            : new ConnectFailure("tls_error", `the handshake with ${hostname} failed`, error),
        );
      });
    });
  }

  function isAsChecked(address: string, isPlain: boolean): boolean {
    const reach = networks.reachOf(address);
    return reach === "allowed" || (!isPlain && reach === "public");
  }

  async function openInTime(options: buildConnector.Options): Promise<Socket | ConnectFailure> {
    const deadline = new AbortController();
    const late = new ConnectFailure("timeout", `no connection within ${connectTimeoutMs} ms`);
    const timer = setTimeout(() => deadline.abort(late), connectTimeoutMs);
    try {
      return await open(options, deadline.signal);
    } catch (error) {
      if (error instanceof ConnectFailure) return error;
      return new ConnectFailure("connection_refused", "no connection could be made", error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function connect(options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    const opened = await openInTime(options);
    if (opened instanceof ConnectFailure) callback(opened, null);
    else callback(null, opened);
  }

  return (options, callback) => void connect(options, callback);
}

/** The codes of an error, and of those that it stands for. */
function codesOf(error: unknown): unknown[] {
  const errors = error instanceof AggregateError ? error.errors : [];
  return [error, ...errors].map((each) => (each as { code?: unknown } | null)?.code);
}

function isOf(family: Family): (address: LookupAddress) => boolean {
  return ({ address }) => isIPv6(address) === (family === "ipv6");
}

function ignore(): void {}
