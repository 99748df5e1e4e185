/**
 * Reads server-sent events (HTML standard, section 9.2) from the body of a fetch. EventSource tells neither why it was
 * refused nor whether its connection still lives.
 */
export interface Message {
  /** Empty for a message that only moves the id. */
  event: string;
  data: string;
  /** The last id that was sent. */
  id: string | undefined;
}

/** @param onBytes is told of every sign of life. */
export async function* readMessages(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onBytes: () => void,
): AsyncGenerator<Message> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest: string[] = [];
  let id: string | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      // The parts of a long message are joined once, at its end.
      rest.push(value);
      if (!value.includes("\n")) continue;
      const blocks = rest.join("").split("\n\n");
      rest = [blocks.pop() ?? ""];
      for (const block of blocks) {
        const message = readMessage(block);
        id = message.id ?? id;
        if (message.event !== "" || message.id !== undefined) yield { ...message, id };
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function readMessage(block: string): Message {
  const fields = new Map<string, string[]>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    // Without a name it is a comment.
    if (colon <= 0) continue;
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  const last = (name: string): string | undefined => fields.get(name)?.at(-1);
  return { event: last("event") ?? "", data: fields.get("data")?.join("\n") ?? "", id: last("id") };
}
