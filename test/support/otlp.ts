/** A minimal receiver of OTLP over HTTP with JSON, which keeps all that it is sent. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Closable } from "#shared/process/lifecycle.ts";

/** A span as it was received. Ids are hexadecimal, and an absent parent is empty. */
export interface ReceivedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, string>;
  isError: boolean;
}

export interface OtlpReceiver extends Closable {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans(): ReceivedSpan[];
  /** All bytes of all requests, heads included. */
  text(): string;
  /** How requests are answered from now on; "never" keeps them waiting. */
  answer(how: "ok" | "error" | "never"): void;
  /** Requests so far. */
  readonly requests: number;
}

interface OtlpValue {
  stringValue?: string;
  intValue?: number;
}

interface OtlpAttribute {
  key: string;
  value: OtlpValue;
}

interface OtlpBody {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        attributes?: OtlpAttribute[];
        links?: { traceId: string; spanId: string }[];
        status?: { code?: number };
      }[];
    }[];
  }[];
}

const statusError = 2;

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received: string[] = [];
  const bodies: OtlpBody[] = [];
  let how: "ok" | "error" | "never" = "ok";
  let requests = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => undefined);
    request.on("end", () => {
      requests++;
      const body = Buffer.concat(chunks).toString();
      received.push(`${request.url}\n${request.rawHeaders.join("\n")}\n${body}`);
      if (how === "never") return;
      if (how === "ok") bodies.push(JSON.parse(body) as OtlpBody);
      response.writeHead(how === "ok" ? 200 : 500, { "content-type": "application/json" });
      response.end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => bodies.flatMap(readSpans),
    text: () => received.join("\n"),
    answer(wanted) {
      how = wanted;
    },
    get requests() {
      return requests;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function readSpans({ resourceSpans }: OtlpBody): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId = "", name, links = [], attributes = [], status }) => ({
        service: toRecord(resource.attributes)["service.name"] ?? "",
        name,
        traceId,
        spanId,
        parentSpanId,
        links,
        attributes: toRecord(attributes),
        isError: status?.code === statusError,
      })),
    ),
  );
}

function toRecord(attributes: readonly OtlpAttribute[]): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? String(value.intValue ?? JSON.stringify(value))]),
  );
}
