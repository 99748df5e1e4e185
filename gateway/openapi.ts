/** The OpenAPI document of the gateway, merged from its surfaces. */
import { version } from "#shared/process/version.ts";
import { revisions } from "#shared/values/revisions.ts";
import { describeCompat } from "./compat/openapi.ts";
import type { OpenApiDocument } from "./docs/document.ts";
import { describeNative } from "./native/openapi.ts";
import { headers } from "./surface/openapi.ts";

/** @param url the address of the gateway; a path is relative to the document. */
export function createDocument(url: string): OpenApiDocument {
  const [native, compat] = [describeNative("/v1"), describeCompat("/api")];
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Daybook",
      version,
      description:
        "Records what customers do and who they are. Ids are prefixed, parsed in either case, and sort by creation. " +
        "Times are UTC with microseconds.\n\n" +
        `Revisions: ${revisions.join(", ")}; under ${revisions[0]} errors have the form \`{error: {code, message, ` +
        "field, request_id}}`.\n\n" +
        "Rate limits are of each key, in fixed windows of a minute: one for ordinary requests, and one for batches " +
        "with backfill, whose answers have the headers of that window. A 429 can be repeated after Retry-After.\n\n" +
        "Bodies are JSON of at most 2 MB, and may come with Content-Encoding gzip or deflate; the limit is that of " +
        "the inflated body. A client's own X-Request-Id is not taken.\n\n" +
        "Under `/api`, and without it, is the compatibility surface: JSON:API as another platform has it, with " +
        "bodies of at most 5 MB and errors in its own form.\n\n" +
        "What cannot be read as a request is refused in the same form: with 400, with 408 when it does not arrive " +
        "within 30 seconds, or with 431 when it has more than 100 headers or 16 KB of them.",
    },
    servers: [{ url }],
    security: [{ bearer: [] }],
    tags: [...native.tags, ...compat.tags],
    paths: { ...native.paths, ...compat.paths },
    components: {
      securitySchemes: { ...native.securitySchemes, ...compat.securitySchemes },
      schemas: { ...native.schemas, ...compat.schemas },
      examples: native.examples,
      headers,
    },
  };
  return document as unknown as OpenApiDocument;
}
