/** `/openapi.json`, and `/docs`: the same for people. Both are kept by caches only as long as they are asked for anew each time. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OpenApiDocument } from "./document.ts";
import { renderPage, stylePath } from "./page.ts";

// Nothing from outside, no script at all, and no style but the page's own.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
// What can stand in the lines of curl as it is; a client may send anything.
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const hostUnknown = "daybook.example.com";

/** Registers what tells about the API. */
export function docsRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const text = JSON.stringify(document);
  const style = readFileSync(join(import.meta.dirname, "style.css"), "utf8");
  const [textTag, styleTag] = [tagOf(text), tagOf(style)];
  app.get("/openapi.json", (request, reply) =>
    sendCacheable(request, reply, { type: "application/json; charset=utf-8", tag: textTag, make: () => text }),
  );
  app.get(stylePath, (request, reply) =>
    sendCacheable(request, reply, { type: "text/css; charset=utf-8", tag: styleTag, make: () => style }),
  );
  // Those who know the address need not be rendered for each time anew.
  let last = { origin: "", page: "", tag: "" };
  app.get("/docs", (request, reply) => {
    const origin = originOf(request);
    if (origin !== last.origin) {
      const page = renderPage(document, origin);
      last = { origin, page, tag: tagOf(page) };
    }
    const { page, tag } = last;
    void reply.header("content-security-policy", pagePolicy);
    return sendCacheable(request, reply, { type: "text/html; charset=utf-8", tag, make: () => page });
  });
}

/** The address that a client sees. A proxy that ends TLS says so; whoever else says so only misleads himself. */
function originOf(request: FastifyRequest): string {
  const scheme = request.headers["x-forwarded-proto"] === "https" ? "https" : "http";
  const host = request.headers.host ?? "";
  return `${scheme}://${hostPattern.test(host) ? host : hostUnknown}`;
}

function tagOf(text: string): string {
  return `"${hash("sha256", text, "base64url").slice(0, 22)}"`;
}

function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, tag, make }: { type: string; tag: string; make: () => string },
): FastifyReply {
  void reply.headers({ etag: tag, "cache-control": "no-cache" });
  const known = request.headers["if-none-match"]?.split(",").map((one) => one.trim().replace(/^W\//, "")) ?? [];
  if (known.includes(tag) || known.includes("*")) return reply.code(304).send();
  return reply.type(type).send(make());
}
