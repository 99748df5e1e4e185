/** A connection on which a test writes what no client library would. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "./processes.ts";

/** One answer as it stood on the wire. */
export interface WireAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** A connection. */
export interface Wire {
  write: (data: string | Uint8Array) => void;
  /** Waits for so many answers in a row. */
  answers: (count: number) => Promise<WireAnswer[]>;
  /** Resolves when the server has closed the connection; what came until then. */
  closed: Promise<string>;
  end: () => void;
}

/** Connects to where a URL points. The connection stays half open, as that of a client that never closes. */
export async function openWire(baseUrl: string): Promise<Wire> {
  const { hostname, port } = new URL(baseUrl);
  const socket: Socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  // What is not read to its end may be refused after the answer.
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

/** The whole answers in a text; each has a Content-Length, or none and no body. */
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
