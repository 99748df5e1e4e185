/** Privacy requests of every kind, for tests that call every operation. */
import pg from "pg";
import { expect } from "vitest";
import { PrivacyRequestStatus, type PrivacyRequest } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { Api } from "./api.ts";
import { testCall, type TestDaybook } from "./daybook.ts";
import { eventually } from "./processes.ts";

const dayMs = 24 * 60 * 60 * 1_000;

/** Makes a request, and gives its id. */
export async function askPrivacy(api: Pick<Api, "post">, body: object): Promise<string> {
  const { status, body: answer, text } = await api.post("/v1/privacy-requests", body);
  expect([status, text]).toEqual([202, expect.any(String)]);
  return answer.data.id as string;
}

/** Makes a request for access, and waits until its stream can be had. */
export async function askAccess(api: Pick<Api, "post" | "get">, subject: object): Promise<string> {
  const id = await askPrivacy(api, { type: "access", ...subject });
  await eventually(async () => {
    const { data } = (await api.get(`/v1/privacy-requests/${id}`)).body;
    return data.status === "completed" || undefined;
  });
  return id;
}

/** Ids of requests in each state that an operation needs, and of a suppression; named as the examples' ids. */
export async function makePrivacyRequests(
  { databaseUrl }: Pick<TestDaybook, "databaseUrl">,
  api: Api,
): Promise<Record<"privacyRequest" | "pendingPrivacyRequest" | "failedPrivacyRequest" | "suppression", string>> {
  const nobody = { identifiers: [{ type: "card", value: crypto.randomUUID() }] };
  const later = { not_before: new Date(Date.now() + dayMs).toISOString() };
  const privacyRequest = await askAccess(api, nobody);
  const pendingPrivacyRequest = await askPrivacy(api, { type: "access", ...nobody, ...later });
  const failedPrivacyRequest = await askPrivacy(api, { type: "access", ...nobody, ...later });
  await fail(databaseUrl, failedPrivacyRequest);
  // Of somebody else, because an erasure ends streams of the same person.
  const other = { identifiers: [{ type: "card", value: crypto.randomUUID() }] };
  await askPrivacy(api, { type: "erasure", ...other, suppress: true });
  const suppression = await eventually(
    async () => (await api.get("/v1/suppressions")).body.data[0]?.id as string | undefined,
  );
  return { privacyRequest, pendingPrivacyRequest, failedPrivacyRequest, suppression };
}

/** Nothing that a caller does makes a request fail. */
async function fail(databaseUrl: string, id: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rowCount } = await client.query(
    `UPDATE profile.privacy_requests
     SET status = 'failed', failure = '{"code": "internal_error", "message": "It failed."}', completed_at = now(),
         next_at = NULL
     WHERE id = $1`,
    [decodeId("priv", id, "id")],
  );
  await client.end();
  expect(rowCount).toBe(1);
}

const ended: ReadonlySet<PrivacyRequestStatus> = new Set([
  PrivacyRequestStatus.COMPLETED,
  PrivacyRequestStatus.FAILED,
  PrivacyRequestStatus.CANCELLED,
]);

/** Waits until a request has ended. */
export function untilEnded(
  { clients: { privacy } }: TestDaybook,
  propertyId: string,
  privacyRequestId: string,
): Promise<PrivacyRequest> {
  const named = { propertyId, privacyRequestId };
  let last: PrivacyRequest | undefined;
  return eventually(
    async () => {
      last = (await privacy.getPrivacyRequest(named, testCall)).request;
      return last && ended.has(last.status) ? last : undefined;
    },
    {
      timeoutMs: 90_000,
      explain: () =>
        `the request is ${JSON.stringify(last, (_, value) => (typeof value === "bigint" ? Number(value) : value))}`,
    },
  );
}
