/** A member of the dashboard, and a browser in which she looks at it. */
import { hash } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import type { BrowserContext } from "playwright-core";
import { MemberService, Role } from "#proto/daybook/identity/v1/members_pb.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { startChromium } from "../../test/support/chromium.ts";
import type { Daybook } from "../contestants/daybook.ts";

/** Makes a viewer of all properties. @returns the token of her session. */
export async function newSession({ services }: Daybook): Promise<string> {
  const members = createClient(MemberService, http2Transport(services.url, services.internalToken));
  const call = systemCall("bench");
  const email = `bench-${process.hrtime.bigint()}@example.com`;
  const { token: link } = await members.inviteMember({ email, grants: [{ role: Role.VIEWER }] }, call);
  const { token } = await members.acceptLink(
    {
      tokenHash: hash("sha256", link, "buffer"),
      name: "Bench",
      password: "a horse, a battery and a staple",
      visitor: { address: "127.0.0.1", userAgent: "bench" },
    },
    call,
  );
  return token;
}

/** What a request of a page has to prove who sends it. */
export function sessionHeaders(address: string, token: string): Record<string, string> {
  return { cookie: `daybook-${new URL(address).port}=${token}`, origin: address };
}

/** Opens a browser in which she is signed in; `owner` closes it. */
export async function openBrowser(address: string, token: string, owner: Owner): Promise<BrowserContext> {
  const browser = await startChromium();
  owner.defer(() => browser.close());
  const context = await browser.newContext({ baseURL: address, viewport: { width: 1280, height: 800 } });
  await context.addCookies([{ name: `daybook-${new URL(address).port}`, value: token, url: address }]);
  return context;
}
