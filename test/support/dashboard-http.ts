/** What the browser of a member sends to the dashboard, as plain HTTP. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RoleGrantSchema } from "#proto/daybook/identity/v1/members_pb.ts";
import type { TestDaybook } from "./daybook.ts";
import { newMember } from "./members.ts";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** What a browser of a member does. */
export interface Browser {
  memberId: string;
  email: string;
  /** `name=value`, as the browser sends it. */
  cookie: string;
  /** Calls a method of the dashboard with JSON. @param path relative to `/dashboard/rpc/`. */
  call(path: string, body?: object, headers?: Record<string, string>): Promise<RpcAnswer>;
}

export interface RpcAnswer extends Answer {
  /** The code of a refusal, such as `missing_scope`; undefined after a success. */
  code: string | undefined;
  // Tests read answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export const sameOrigin = { "sec-fetch-site": "same-origin" } as const;

/** Sends a form as a page of the dashboard does. */
export async function sendForm(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = sameOrigin,
): Promise<Answer> {
  const body = new URLSearchParams(fields);
  const response = await fetch(url, { method: "POST", headers, body, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The cookies that an answer sets, as a browser sends them back. */
export function cookiesOf({ headers }: Pick<Answer, "headers">): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .filter((cookie) => !cookie.endsWith("="))
    .join("; ");
}

/** Calls a method as a browser with a cookie does, or without one. */
export async function callAs(
  baseUrl: string,
  cookie: string | undefined,
  path: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const response = await fetch(`${baseUrl}/dashboard/rpc/${path}`, {
    method: "POST",
    headers: {
      ...sameOrigin,
      "content-type": "application/json",
      ...(cookie === undefined ? {} : { cookie }),
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const parsed: RpcAnswer["body"] = JSON.parse(text);
  const { status } = response;
  return { status, headers: response.headers, text, code: parsed.details?.[0]?.debug?.code, body: parsed };
}

/** A member who has just signed in, and her browser. */
export async function newBrowser(
  daybook: TestDaybook,
  grants?: MessageInitShape<typeof RoleGrantSchema>[],
): Promise<Browser> {
  const { email, cookie } = await newMember(daybook, grants);
  return openBrowser(daybook.baseUrl, email, `${cookie.name}=${cookie.value}`);
}

/** A browser that has a cookie of a session. */
export async function openBrowser(baseUrl: string, email: string, cookie: string): Promise<Browser> {
  const call: Browser["call"] = (path, body, headers) => callAs(baseUrl, cookie, path, body, headers);
  const { body } = await call("daybook.dashboard.v1.DashboardService/GetViewer");
  return { memberId: body.member.id, email, cookie, call };
}
