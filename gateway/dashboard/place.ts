/** Where the dashboard is opened: over https, on this computer, or where no session is safe. Cookies depend on it. */
import type { FastifyReply, FastifyRequest } from "fastify";

export interface Place {
  /** `https`, `loopback` for plain HTTP on this computer, or `unsafe` for plain HTTP elsewhere. */
  kind: "https" | "loopback" | "unsafe";
  /** As browsers send it, such as `https://daybook.example.com`. */
  origin: string;
  /** Empty for the standard port. */
  port: string;
}

const loopbackPattern = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** Whether a host is this computer. */
export function isLoopback(hostname: string): boolean {
  return loopbackPattern.test(hostname);
}

export function placeOf({ publicOrigin }: FastifyRequest): Place {
  const { protocol, hostname, port, origin } = new URL(publicOrigin);
  const kind = protocol === "https:" ? "https" : isLoopback(hostname) ? "loopback" : "unsafe";
  return { kind, origin, port };
}

/**
 * The name of a cookie. A `__Host-` cookie can only be set by this host, over https. Over HTTP the name has the port,
 * because all ports of a host share their cookies.
 */
function cookieName(place: Place, name: string): string {
  return place.kind === "https" ? `__Host-${name}` : `${name}-${place.port === "" ? "80" : place.port}`;
}

/** Reads a cookie; undefined without one, or where none is safe. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  const place = placeOf(request);
  if (place.kind === "unsafe") return undefined;
  const wanted = `${cookieName(place, name)}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length);
}

/**
 * Sets a cookie, or deletes it with an age of 0. Scripts cannot read it, and it does not come with requests that
 * another site makes, but for links.
 * @param value of characters that a cookie may have.
 */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  cookie: { name: string; value: string; ageSeconds: number },
): void {
  const place = placeOf(request);
  if (place.kind === "unsafe") throw new Error("no cookie is set over plain HTTP");
  const secure = place.kind === "https" ? "; Secure" : "";
  // Fastify sends several cookies one by one.
  void reply.header(
    "set-cookie",
    `${cookieName(place, cookie.name)}=${cookie.value}; Path=/; Max-Age=${cookie.ageSeconds}; HttpOnly; SameSite=Lax${secure}`,
  );
}
