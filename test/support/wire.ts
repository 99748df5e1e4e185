/** A raw connection, for requests that no client library sends. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "./processes.ts";

/** One parsed answer. */
export interface WireAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

export interface Wire {
  write: (data: string | Uint8Array) => void;
  /** Waits for this many answers. */
  answers: (count: number) => Promise<WireAnswer[]>;
  /** Resolves with all received text when the server closes the connection. */
  closed: Promise<string>;
  end: () => void;
}

/** Connects to the host of a URL. The connection stays half open, like that of a client that never closes. */
export async function openWire(baseUrl: string): Promise<Wire> {
  const { hostname, port } = new URL(baseUrl);
  const socket: Socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  // A server may reset an unread request after its answer.
  socket.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.once("end", () => resolve(text));
    socket.once("close", () => resolve(text));
  });
  await once(socket, "connect");
  return {
    write: (data) => void socket.write(data),
    answers: (count) =>
      eventually(
        () => {
          const found = splitAnswers(text);
          return found.length >= count ? found : undefined;
        },
        { explain: () => `${count} answers, of which there came: ${text}` },
      ),
    closed,
    end: () => void socket.destroy(),
  };
}

/** Parses the complete answers of a text. Each has a Content-Length or no body. */
export function splitAnswers(text: string): WireAnswer[] {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return [];
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyEnd = headEnd + 4 + Number(headers.get("content-length") ?? 0);
  if (text.length < bodyEnd) return [];
  const answer = { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(headEnd + 4, bodyEnd) };
  return [answer, ...splitAnswers(text.slice(bodyEnd))];
}
