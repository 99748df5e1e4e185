/** One address of a service: its HTTP/2 connection, the calls that run on it, and whether it answers. */
import { connect, constants, type ClientHttp2Session, type ClientSessionOptions } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";

type Request = Http2SessionManager["request"];
type Stream = Awaited<ReturnType<Request>>;

/** A connection on which calls run and that is silent gets a PING after the first time, and ends after the second. */
const pings = { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 };
/** Time until a connection is there, so that a call has time left for another address. */
const openTimeoutMs = 3_000;
/** Calls go elsewhere after a call for which nothing was heard of the server for this time. */
const silentMsMax = 1_000;
const probeIntervalMs = 1_000;
const probeTimeoutMs = 2_000;

/** A connection. It is replaced by another when it ends, and stays until its calls are over. */
class Connection {
  readonly #manager: Http2SessionManager;
  readonly #watched = new WeakSet<ClientHttp2Session>();
  readonly #leave: (connection: Connection) => void;
  /** When the first call began since which nothing was heard, also if its caller has given it up. */
  #askedAtMs: number | undefined;
  #isRetired = false;
  calls = 0;

  /** @param leave called when the connection takes no more calls. */
  constructor(url: string, options: ClientSessionOptions, leave: (connection: Connection) => void) {
    this.#manager = new Http2SessionManager(url, pings, options);
    this.#leave = leave;
  }

  get isSilent(): boolean {
    return this.#askedAtMs !== undefined && performance.now() - this.#askedAtMs > silentMsMax;
  }

  /** Opens a stream, and the connection before it. Nothing was sent if it fails. */
  async request(...request: Parameters<Request>): Promise<Stream> {
    this.#begin();
    try {
      const stream = await this.#open(request);
      let isAnswered = false;
      stream.once("response", () => {
        isAnswered = true;
        this.hear();
      });
      stream.once("close", () => {
        this.#end();
        if (isAnswered) this.hear();
      });
      this.#watch(stream);
      return stream;
    } catch (error) {
      this.#end();
      this.#leave(this);
      throw error;
    }
  }

  /** Notes that the server answers. */
  hear(): void {
    this.#askedAtMs = this.calls > 0 ? performance.now() : undefined;
  }

  noteRead(stream: Stream): void {
    this.hear();
    this.#manager.notifyResponseByteRead(stream);
  }

  /** Closes the connection when the last of its calls is over. */
  retire(): void {
    this.#isRetired = true;
    if (this.calls === 0) this.#manager.abort();
  }

  #begin(): void {
    this.#askedAtMs ??= performance.now();
    this.calls++;
  }

  #end(): void {
    this.calls--;
    if (this.#isRetired && this.calls === 0) this.#manager.abort();
  }

  async #open(request: Parameters<Request>): Promise<Stream> {
    const opening = this.#manager.request(...request);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      opening.then(
        (stream) => stream.on("error", () => undefined).close(constants.NGHTTP2_CANCEL),
        () => undefined,
      );
      late.reject(new ConnectError(`${this.#manager.authority} did not take a connection in time`, Code.Unavailable));
    }, openTimeoutMs);
    try {
      return await Promise.race([opening, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #watch(stream: Stream): void {
    stream.once("error", () => {
      // Running calls continue on this connection.
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) this.#leave(this);
    });
    const session = stream.session as ClientHttp2Session | undefined;
    if (!session || this.#watched.has(session)) return;
    this.#watched.add(session);
    // connect-node 2.2.0 destroys an idle connection with an error on GOAWAY, and may remove its own listener before
    // Node emits that error, which would end the process. This listener stays.
    // Source: https://github.com/connectrpc/connect-es/issues/1768
    session.on("error", () => undefined);
    session.once("goaway", () => this.#leave(this));
    session.once("close", () => this.#leave(this));
  }
}

/** An address of a service. */
export class Replica {
  readonly #url: string;
  readonly #authority: string;
  readonly #options: ClientSessionOptions;
  readonly #onDown: () => void;
  readonly #connections = new WeakMap<Stream, Connection>();
  #connection: Connection;
  #isUp = true;
  #usedAtMs = 0;
  #probedAtMs = 0;

  /**
   * @param url with the address as its host.
   * @param authority the host that calls name: the name of the service.
   * @param onDown called when the address stops taking calls.
   */
  constructor(url: string, authority: string, options: ClientSessionOptions, onDown: () => void) {
    this.#url = url;
    this.#authority = authority;
    this.#options = options;
    this.#onDown = onDown;
    this.#connection = this.#newConnection();
  }

  /** Calls go to the replica whose order is the lowest, compared from the first number to the last. */
  get order(): readonly [reluctance: number, calls: number, usedAtMs: number] {
    const { isSilent, calls } = this.#connection;
    return [(this.#isUp ? 0 : 2) + (isSilent ? 1 : 0), calls, this.#usedAtMs];
  }

  /** @throws Error when there is no connection, so that nothing was sent. */
  async request(method: string, path: string, headers: Parameters<Request>[2], options: Parameters<Request>[3]) {
    this.#usedAtMs = performance.now();
    const connection = this.#connection;
    const stream = await connection.request(method, path, { ...headers, ":authority": this.#authority }, options);
    this.#connections.set(stream, connection);
    if (connection === this.#connection) this.#isUp = true;
    return stream;
  }

  noteRead(stream: Stream): void {
    this.#connections.get(stream)?.noteRead(stream);
  }

  /** Asks an address that is down or silent whether it answers, at most once a second. */
  async probe(): Promise<void> {
    const connection = this.#connection;
    if (this.#isUp && !connection.isSilent) return;
    if (performance.now() - this.#probedAtMs < probeIntervalMs) return;
    this.#probedAtMs = performance.now();
    if (!(await answers(this.#url))) return;
    this.#isUp = true;
    connection.hear();
  }

  /** Takes no more calls, and closes the connection when the last of them is over. */
  retire(): void {
    this.#connection.retire();
  }

  #newConnection(): Connection {
    return new Connection(this.#url, this.#options, (connection) => {
      connection.retire();
      if (connection !== this.#connection) return;
      this.#connection = this.#newConnection();
      this.#isUp = false;
      this.#onDown();
    });
  }
}

/** Whether a process answers at a URL. Its kernel accepts connections also while it hangs, so that is not enough. */
function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connect(url);
    session.unref();
    const end = (isGood: boolean): void => {
      clearTimeout(timer);
      resolve(isGood);
      session.destroy();
    };
    const timer = setTimeout(end, probeTimeoutMs, false).unref();
    session.on("error", () => end(false));
    for (const event of ["goaway", "close"]) session.once(event, () => end(false));
    // A server that is about to stop says so right after its settings.
    session.once("remoteSettings", () => session.ping((error) => setImmediate(end, error === null)));
  });
}
