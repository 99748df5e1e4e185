/** Refuses requests that two HTTP readers could frame differently, and closes the connection: RFC 9112. */
import type { FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/values/errors.ts";
import { countHeaders } from "../headers.ts";

// RFC 3986, section 3.2.2: an address in brackets, or a name. RFC 9110, section 7.2: with an optional port.
const hostPattern = /^(?:\[[0-9a-f:.]{2,45}\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2}){1,255})(?::\d{0,5})?$/i;

export const framingPlugin = fastifyPlugin((app) => {
  app.addHook("onRequest", async (request, reply) => {
    const fault = faultOf(request);
    if (fault === undefined) return;
    void reply.header("connection", "close");
    throw new DaybookError("bad_request", fault);
  });
});

function faultOf({ raw }: FastifyRequest): string | undefined {
  const { httpVersion, headers } = raw;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "The version of HTTP must be 1.1 or 1.0.";
  // RFC 9112, section 6.1: HTTP/1.0 has no Transfer-Encoding, so the end of the body is unknown.
  if (httpVersion === "1.0" && headers["transfer-encoding"] !== undefined) {
    return "A request of HTTP/1.0 has no Transfer-Encoding.";
  }
  const hosts = countHeaders(raw, "host");
  // RFC 9112, section 3.2.
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1"))
    return `A request has one Host header; this one has ${hosts}.`;
  if (hosts === 1 && !hostPattern.test(headers.host ?? "")) {
    return "The Host header must be a name or an address, with or without a port, such as daybook.example.com:8080.";
  }
  return undefined;
}
