/**
 * The HTTP/2 connections of a client to a service. Calls are spread over all addresses that the service's name has:
 * each goes to the address with the fewest running calls, in turn among equals. An address that does not take a
 * connection, that says goodbye or that is silent gets no calls until it answers again.
 *
 * There are no timers: the name is looked up as calls come, so an idle process can end.
 */
import { lookup } from "node:dns/promises";
import type { ClientSessionOptions } from "node:http2";
import { isIP, isIPv6 } from "node:net";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Http2SessionManager } from "@connectrpc/connect-node";
import { Replica } from "./replica.ts";

/** The connections that calls take. */
export type Connections = Pick<Http2SessionManager, "authority" | "request" | "notifyResponseByteRead">;

export interface Sessions extends Connections {
  /** Each address of the service, with the connections of calls that go to it alone. */
  replicas(): Promise<Map<string, Connections>>;
}

/** Finds the addresses of a name. */
export type Resolve = (name: string) => Promise<string[]>;

/** New replicas get calls after this time. */
export const lookUpIntervalMs = 5_000;
/** The least time between two look-ups after failures. */
const lookUpAgainMs = 500;
/** Addresses of one name. */
const addressesMax = 100;
/** Addresses that are tried for one call. */
const attemptsMax = 4;

const resolveName: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Connects with the first call, and again when a server has ended a connection.
 * @param urls of one service, over plain HTTP: usually one, whose name has an address for each replica.
 */
export function createSessions(
  urls: readonly string[],
  options: ClientSessionOptions,
  resolve: Resolve = resolveName,
): Sessions {
  const services = urls.map((url) => new URL(url));
  const names = services.filter(({ hostname }) => !isAddress(hostname));
  /** By the URL of their address. */
  const replicas = new Map<string, Replica>();
  /** The replica of each stream. */
  const owners = new WeakMap<object, Replica>();
  let looking: Promise<void> | undefined;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;

  function add(service: URL, address: string): string {
    const url = new URL(service);
    url.hostname = isIPv6(address) ? `[${address}]` : address;
    const { origin } = url;
    if (!replicas.has(origin)) {
      replicas.set(origin, new Replica(origin, service.host, options, () => void lookUp(lookUpAgainMs)));
    }
    return origin;
  }

  for (const service of services) if (isAddress(service.hostname)) add(service, bare(service.hostname));

  /** Takes what names stand for now. A name that cannot be looked up keeps its addresses. */
  async function lookUpAll(): Promise<void> {
    const fixed = services.filter(({ hostname }) => isAddress(hostname)).map(({ origin }) => origin);
    const found = await Promise.all(
      names.map(async (service) => {
        const addresses = (await resolve(service.hostname)).slice(0, addressesMax);
        return addresses.map((address) => add(service, address));
      }),
    );
    const known = new Set([...fixed, ...found.flat()]);
    if (found.some((addresses) => addresses.length === 0)) return;
    for (const [url, replica] of replicas) {
      if (known.has(url)) continue;
      replicas.delete(url);
      replica.retire();
    }
  }

  /** Looks up unless that was done within `ageMsMax`. @returns the error of the look-up, if any. */
  async function lookUp(ageMsMax: number): Promise<unknown> {
    if (names.length === 0) return undefined;
    if (!looking && performance.now() - lookedUpAtMs < ageMsMax) return undefined;
    looking ??= lookUpAll().finally(() => {
      looking = undefined;
      lookedUpAtMs = performance.now();
    });
    return looking.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  function choose(tried: ReadonlySet<Replica>): Replica | undefined {
    let best: Replica | undefined;
    for (const replica of replicas.values()) {
      if (!tried.has(replica) && (!best || isBefore(replica.order, best.order))) best = replica;
    }
    return best;
  }

  return {
    authority: services[0]?.origin ?? "",
    async replicas() {
      const failure = replicas.size === 0 ? await lookUp(0) : undefined;
      void lookUp(lookUpIntervalMs);
      if (failure !== undefined) throw failure;
      return new Map(
        [...replicas].map(([url, replica]) => [
          url,
          {
            authority: services[0]?.origin ?? "",
            request: (...request) => replica.request(...request),
            notifyResponseByteRead: (stream) => replica.noteRead(stream),
          } satisfies Connections,
        ]),
      );
    },
    notifyResponseByteRead: (stream) => owners.get(stream)?.noteRead(stream),
    async request(method, path, headers, requestOptions) {
      let failure = replicas.size === 0 ? await lookUp(0) : undefined;
      void lookUp(lookUpIntervalMs);
      // A single address is tried anyway.
      if (replicas.size > 1) for (const replica of replicas.values()) void replica.probe();
      const tried = new Set<Replica>();
      while (tried.size < attemptsMax) {
        let replica = choose(tried);
        if (!replica) {
          // The name may stand for others by now.
          failure = (await lookUp(lookUpAgainMs)) ?? failure;
          replica = choose(tried);
        }
        if (!replica) break;
        tried.add(replica);
        try {
          const stream = await replica.request(method, path, headers, requestOptions);
          owners.set(stream, replica);
          return stream;
        } catch (error) {
          failure = error;
        }
      }
      const none = `no address of ${urls.join(", ")} takes a connection`;
      throw failure instanceof ConnectError
        ? failure
        : new ConnectError(none, Code.Unavailable, undefined, undefined, failure);
    },
  };
}

function isAddress(hostname: string): boolean {
  return isIP(bare(hostname)) !== 0;
}

/** A host without the brackets of IPv6. */
function bare(hostname: string): string {
  return hostname.replaceAll(/[[\]]/g, "");
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const index = one.findIndex((number, at) => number !== other[at]);
  return index !== -1 && (one[index] ?? 0) < (other[index] ?? 0);
}

/**
 * Retries a call once when its connection refused it, as a closing connection does: by RFC 9113, 8.7 the server has not
 * processed it. Calls that may have been processed are never retried.
 */
export const repeatRefused: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    // The messages of a stream can be read only once.
    if (request.stream || request.signal.aborted || !wasRefused(error)) throw error;
    return next(request);
  }
};

function wasRefused(failure: unknown): boolean {
  for (let error = failure; error instanceof Error; error = error.cause) {
    const { code } = error as { code?: unknown };
    if (code === "ERR_HTTP2_GOAWAY_SESSION") return true;
    // Node gives the reason of a reset only in the message.
    if (code === "ERR_HTTP2_STREAM_ERROR" && error.message.includes("NGHTTP2_REFUSED_STREAM")) return true;
  }
  return false;
}
