/** `/openapi.json`, and `/docs`: the same for people. Both are kept by caches only as long as they are asked for anew each time. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { originOf } from "../origin.ts";
import type { OpenApiDocument } from "./document.ts";
import { renderPage, stylePath } from "./page.ts";

// Nothing from outside, no script at all, and no style but the page's own.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const originMark = "http://origin.invalid";

/** Registers what tells about the API. */
export function docsRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const text = JSON.stringify(document);
  const style = readFileSync(join(import.meta.dirname, "style.css"), "utf8");
  app.get("/openapi.json", (request, reply) =>
    sendCacheable(request, reply, { type: "application/json; charset=utf-8", text }),
  );
  app.get(stylePath, (request, reply) =>
    sendCacheable(request, reply, { type: "text/css; charset=utf-8", text: style }),
  );
  // Rendered once: only the address differs from request to request, and what may stand there needs no escaping.
  const parts = renderPage(document, originMark).split(originMark);
  app.get("/docs", (request, reply) => {
    const origin = originOf(request);
    const page = parts.join(origin);
    void reply.header("content-security-policy", pagePolicy);
    return sendCacheable(request, reply, { type: "text/html; charset=utf-8", text: page });
  });
}

function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, text }: { type: string; text: string },
): FastifyReply {
  const tag = `"${hash("sha256", text, "base64url").slice(0, 22)}"`;
  void reply.headers({ etag: tag, "cache-control": "no-cache" });
  const known = request.headers["if-none-match"]?.split(",").map((one) => one.trim().replace(/^W\//, "")) ?? [];
  if (known.includes(tag) || known.includes("*")) return reply.code(304).send();
  return reply.type(type).send(text);
}
