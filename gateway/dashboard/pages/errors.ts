/** Errors outside the RPCs, as pages. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#shared/process/log.ts";
import { takeError } from "../../refusals.ts";
import { html } from "../../docs/html.ts";
import { sendPage } from "./layout.ts";

const titles: Readonly<Record<number, string>> = {
  403: "This is not allowed",
  404: "There is no such page",
  405: "This page takes no such request",
  413: "This is too large",
  429: "Too many requests",
  503: "Daybook does not answer",
};

export function sendPageError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isOurs = error instanceof ConnectError && error.code === Code.PermissionDenied;
  const { status, message } = isOurs
    ? { status: 403, message: error.rawMessage }
    : takeError(log, error, request, reply);
  return sendPage(reply.code(status), {
    title: titles[status] ?? "Something went wrong",
    main: html`<p>${message.replaceAll("`", "")}</p>
      <p><a href="/dashboard/">Go to the dashboard</a></p>
      <p class="note">Request ${request.id}</p>`,
  });
}
