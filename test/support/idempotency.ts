/** Tests that every write is idempotent with an Idempotency-Key, on each surface. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { scopes as allScopes } from "../../services/identity/domain/scopes.ts";
import type { Answer, Api } from "./api.ts";
import type { TestDaybook } from "./daybook.ts";
import { eventually } from "./processes.ts";

/** A write: its preparation and its request. */
export interface Write {
  name: string;
  prepare?: (api: Api) => Promise<Record<string, string>>;
  method: "POST" | "PATCH" | "DELETE";
  path: (ids: Record<string, string>) => string;
  body?: (ids: Record<string, string>) => unknown;
  /** Number of events and profiles once its asynchronous work is done. */
  leaves?: number;
}

/** Request options with an Idempotency-Key. */
export const keyed = (key: string): { headers: Record<string, string> } => ({ headers: { "idempotency-key": key } });

function send(api: Api, { method, path, body }: Write, ids: Record<string, string>, key: string): Promise<Answer> {
  return api.request(method, path(ids), {
    headers: { "idempotency-key": key, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body(ids)) } : {}),
  });
}

/** Whether an answer is a replay. */
export const replayedOf = ({ headers }: Answer): string | null => headers.get("idempotency-replayed");
export const requestIdOf = ({ headers }: Answer): string => headers.get("x-request-id") ?? "";
/** An answer without its request id. */
export function withoutId(answer: Answer): unknown[] {
  const kept = ["content-type", "etag", "location", "service-version"].map((name) => answer.headers.get(name));
  return [answer.status, kept, answer.text.replace(requestIdOf(answer), "")];
}

const blindScopes = allScopes.filter((scope) => scope !== "identifiers:read_value");

/** The body as a key without identifiers:read_value sees it, without its request id. */
function maskedBody({ text }: Answer): object {
  const values = new Set(["email", "phone_number", "external_id"]);
  return JSON.parse(text, (name, value: unknown) => {
    if (name === "request_id") return undefined;
    if (values.has(name)) return null;
    if (typeof value !== "object" || value === null || !("display_value" in value)) return value;
    const { value: _hidden, ...shown } = value as Record<string, unknown>;
    return shown;
  }) as object;
}

/** Retries while the first request is under way. */
export async function sendUntilDone(one: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await one();
    if (!answer.text.includes("idempotency_key_in_use")) return answer;
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([409, "1"]);
    await sleep(20);
  }
}

/** All events and profiles of a property. */
async function contentsOf(api: Api, leaves: number): Promise<unknown[][]> {
  // Without system events, which arrive later.
  const lists = [
    "/v1/events?filter[source]=api",
    "/v1/profiles?expand=identifiers",
    "/v1/profiles?filter[status]=merged",
  ];
  return eventually(async () => {
    const answers = await Promise.all(lists.map((path) => api.get(path)));
    const contents: unknown[][] = answers.map(({ body }) => body.data);
    return contents.flat().length >= leaves ? contents : undefined;
  });
}

export function promiseOnce(daybook: () => TestDaybook, writes: readonly Write[]): void {
  describe.each(writes)("of $name", (write) => {
    test("the same request is done once, and is answered the same but for its id", async () => {
      const api = await daybook().newProperty();
      const ids = (await write.prepare?.(api)) ?? {};
      const first = await send(api, write, ids, "the key");
      // A key contains no space.
      expect([first.status, first.text.includes("Idempotency-Key")]).toEqual([400, true]);
      const done = await send(api, write, ids, "the-key");
      expect([done.status < 300, replayedOf(done)]).toEqual([true, "false"]);
      const contents = await contentsOf(api, write.leaves ?? 0);
      for (let count = 0; count < 2; count++) {
        const again = await send(api, write, ids, "the-key");
        expect(withoutId(again)).toEqual(withoutId(done));
        expect(replayedOf(again)).toBe("true");
        expect(requestIdOf(again)).not.toBe(requestIdOf(done));
        // The native surface has the request id in the body too.
        expect(again.text.includes(requestIdOf(again))).toBe(done.text.includes(requestIdOf(done)));
      }
      expect(await contentsOf(api, 0)).toEqual(contents);
    });

    test("every API key of the property is given its answer, without values of identifiers if it may not see them", async () => {
      for (const [firstScopes, laterScopes] of [
        [allScopes, blindScopes],
        [blindScopes, allScopes],
        [allScopes, allScopes],
      ] as const) {
        const owner = await daybook().newProperty();
        const ids = (await write.prepare?.(owner)) ?? {};
        const [first, later] = [await owner.withScopes(firstScopes), await owner.withScopes(laterScopes)];
        const done = await send(first, write, ids, "the-key");
        const again = await send(later, write, ids, "the-key");
        expect([done.status < 300, again.status, replayedOf(again)]).toEqual([true, done.status, "true"]);
        expect(maskedBody(again)).toEqual(maskedBody(done));
        // The form does not depend on the first caller.
        expect(withoutId(await send(later, write, ids, "the-key"))).toEqual(withoutId(again));
        if (laterScopes === blindScopes) expect(again.body).toMatchObject(maskedBody(again));
        if (firstScopes === laterScopes) expect(withoutId(again)).toEqual(withoutId(done));
        const stranger = await owner.withScopes(["reports:read"]);
        expect((await send(stranger, write, ids, "the-key")).status).toBe(403);
      }
    });

    test("of many at once one does it, and all get its answer", async () => {
      const api = await daybook().newProperty();
      const ids = (await write.prepare?.(api)) ?? {};
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => sendUntilDone(() => send(api, write, ids, "race"))),
      );
      const [one] = answers;
      for (const answer of answers) expect(withoutId(answer)).toEqual(withoutId(one as Answer));
      expect(answers.filter((answer) => replayedOf(answer) === "false")).toHaveLength(1);
    });
  });
}
