/** `/openapi.json`, and `/docs`: the same for people, with the guides. Caches ask anew each time whether they have changed. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OpenApiDocument } from "./document.ts";
import { readGuides } from "./guides.ts";
import { scriptPath, stylePath } from "./layout.ts";
import { renderGuidePage, renderPage } from "./page.ts";

// Nothing from outside, and no script and no style but the page's own files.
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const originMark = "http://origin.invalid";

/** Registers what tells about the API. */
export function docsRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const html = "text/html; charset=utf-8";
  const serve = (path: string, type: string, text: string): void => {
    app.get(path, (request, reply) => {
      if (type === html) void reply.header("content-security-policy", pagePolicy);
      return sendCacheable(request, reply, { type, text });
    });
  };
  const readOwn = (name: string): string => readFileSync(join(import.meta.dirname, name), "utf8");
  serve("/openapi.json", "application/json; charset=utf-8", JSON.stringify(document));
  serve(stylePath, "text/css; charset=utf-8", readOwn("style.css"));
  serve(scriptPath, "text/javascript; charset=utf-8", readOwn("page.js"));
  const guides = readGuides();
  for (const guide of guides) serve(guide.path, html, renderGuidePage(guide, guides));
  // Rendered once: only the address differs from request to request, and what may stand there needs no escaping.
  const parts = renderPage(document, guides, originMark).split(originMark);
  app.get("/docs", (request, reply) => {
    const page = parts.join(request.publicOrigin);
    void reply.header("content-security-policy", pagePolicy);
    return sendCacheable(request, reply, { type: html, text: page });
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
