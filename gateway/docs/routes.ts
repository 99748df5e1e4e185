/** `/openapi.json`, and `/docs` with the same as pages and the guides. Caches must revalidate them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { entityTagOf, hasTag } from "../caching.ts";
import type { OpenApiDocument } from "./document.ts";
import { guidePaths, readGuides } from "./guides.ts";
import { scriptPath, stylePath } from "./layout.ts";
import { renderGuidePage, renderPage } from "./page.ts";

// Only the page's own script and stylesheet, nothing from other origins.
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";
const originMark = "http://origin.invalid";

/** Registers the documentation. Pages are rendered at the first request, so that the start is not delayed. */
export function docsRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const html = "text/html; charset=utf-8";
  const serve = (path: string, type: string, textFor: (request: FastifyRequest) => string): void => {
    app.get(path, (request, reply) => {
      if (type === html) void reply.header("content-security-policy", pagePolicy);
      return sendCacheable(request, reply, { type, text: textFor(request) });
    });
  };
  const serveText = (path: string, type: string, text: string): void => serve(path, type, () => text);
  const readOwn = (name: string): string => readFileSync(join(import.meta.dirname, name), "utf8");
  serveText("/openapi.json", "application/json; charset=utf-8", JSON.stringify(document));
  serveText(stylePath, "text/css; charset=utf-8", readOwn("style.css"));
  serveText(scriptPath, "text/javascript; charset=utf-8", readOwn("page.js"));
  let rendered: Pages | undefined;
  const pages = (): Pages => (rendered ??= makePages(document));
  for (const path of guidePaths) serve(path, html, () => pages().guides.get(path) ?? "");
  serve("/docs", html, (request) => pages().parts.join(request.publicOrigin));
}

interface Pages {
  /** By path. */
  guides: ReadonlyMap<string, string>;
  /** The page split at the public origin. Only the origin differs between requests, and it needs no escaping. */
  parts: readonly string[];
}

function makePages(document: OpenApiDocument): Pages {
  const guides = readGuides();
  return {
    guides: new Map(guides.map((guide) => [guide.path, renderGuidePage(guide, guides)])),
    parts: renderPage(document, guides, originMark).split(originMark),
  };
}

function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, text }: { type: string; text: string },
): FastifyReply {
  const tag = entityTagOf(text);
  void reply.headers({ etag: tag, "cache-control": "no-cache" });
  if (hasTag(request, tag)) return reply.code(304).send();
  return reply.type(type).send(text);
}
