/** The receivers of webhooks that the documentation shows, in their own languages: what they take, and what not. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { newUuid } from "#shared/values/ids.ts";
import { newSecret, signedHeaders } from "../../services/webhook/domain/signing.ts";
import { eventually, freePort, startProgram } from "../support/processes.ts";

const owner = new Owner();
afterAll(() => owner.close());

const languages: [fence: string, file: string, program: string, words: (file: string, port: number) => string[]][] = [
  ["js", "receiver.mjs", process.execPath, (file) => [file]],
  ["python", "receiver.py", "python3", (file) => [file]],
  ["php", "webhook.php", "php", (file, port) => ["-S", `127.0.0.1:${port}`, file]],
  ["ruby", "receiver.rb", "ruby", (file) => [file]],
];

test.each(languages)("the receiver in %s", async (fence, name, program, words) => {
  const page = await readFile("docs/webhooks.md", "utf8");
  const [, source] = new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\``, "ms").exec(page) ?? [];
  if (source === undefined) throw new Error(`docs/webhooks.md has no code in ${fence}`);
  const folder = await mkdtemp(join(tmpdir(), "daybook-receiver-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  await writeFile(file, source);
  const [port, secret] = [await freePort(), newSecret()];
  const env = { WEBHOOK_SECRET: secret, PORT: String(port) };
  const { output } = owner.own(startProgram(program, words(file, port), env));

  const body = JSON.stringify({ type: "event.recorded", data: { name: "Zoë\u2028", amount: "49.90" } });
  const timestamp = Math.floor(Date.now() / 1000);
  const messageId = newUuid();
  const signed = { messageId, attempt: 1, timestamp, body, secrets: [secret] };
  const post = async (headers: Record<string, string>, sent = body): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: sent });
    return answer.status;
  };
  expect(await eventually(() => post(signedHeaders(signed)), { timeoutMs: 60_000, explain: output }), output()).toBe(
    204,
  );
  await eventually(() => output().includes("event.recorded") || undefined, { explain: output });
  const rotated = { ...signed, secrets: [newSecret(), secret] };
  expect(await post(signedHeaders(rotated))).toBe(204);

  for (const [about, headers, sent] of [
    ["another secret", signedHeaders({ ...signed, secrets: [newSecret()] }), body],
    ["another body", signedHeaders(signed), body.replace("49.90", "94.90")],
    ["an old one", signedHeaders({ ...signed, timestamp: timestamp - 301 }), body],
    ["one of tomorrow", signedHeaders({ ...signed, timestamp: timestamp + 400 }), body],
    ["another id", { ...signedHeaders(signed), "webhook-id": newUuid() }, body],
    ["no signature", { "content-type": "application/json" }, body],
    ["a signature of nothing", { ...signedHeaders(signed), "webhook-signature": "v1," }, body],
  ] as const) {
    expect([about, await post({ ...headers }, sent)]).toEqual([about, 400]);
  }
});
