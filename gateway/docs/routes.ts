/** `/openapi.json`, and `/docs`: the same for people, with the guides. Caches ask anew each time whether they have changed. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OpenApiDocument } from "./document.ts";
import { guidePaths, readGuides } from "./guides.ts";
import { scriptPath, stylePath } from "./layout.ts";
import { renderGuidePage, renderPage } from "./page.ts";

// Nothing from outside, and no script and no style but the page's own files.
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " +
  "'none'";
const originMark = "http://origin.invalid";

/** Registers what tells about the API. The pages are made when the first of them is asked for, so that a start does not wait for them. */
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
  let made: Pages | undefined;
  const pages = (): Pages => (made ??= makePages(document));
  for (const path of guidePaths) serve(path, html, () => pages().guides.get(path) ?? "");
  serve("/docs", html, (request) => pages().parts.join(request.publicOrigin));
}

/** All pages. */
interface Pages {
  /** By their paths. */
  guides: ReadonlyMap<string, string>;
  /** What stands around each mention of the address: only that differs from request to request, and what may stand there needs no escaping. */
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
  const tag = `"${hash("sha256", text, "base64url").slice(0, 22)}"`;
  void reply.headers({ etag: tag, "cache-control": "no-cache" });
  const known = request.headers["if-none-match"]?.split(",").map((one) => one.trim().replace(/^W\//, "")) ?? [];
  if (known.includes(tag) || known.includes("*")) return reply.code(304).send();
  return reply.type(type).send(text);
}
