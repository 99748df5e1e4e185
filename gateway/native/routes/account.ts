import type { FastifyInstance } from "fastify";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import { accountJson } from "../convert/account.ts";
import { sendData } from "../envelope.ts";
import { exampleAccount } from "../examples.ts";
import { operation } from "../operation.ts";
import { queryOf } from "../query.ts";
import { Account } from "../resources.ts";

const read = operation("accounts:read", {
  id: "getAccount",
  tag: "Account",
  summary: "Read the property and the key of the request",
  data: Account,
  success: { 200: "The account" },
  examples: { data: exampleAccount },
});

export function accountRoutes(app: FastifyInstance, { clients }: NativeContext): void {
  app.get("/account", read, async (request, reply) => {
    queryOf(request);
    const { propertyId, keyId, limits } = callerOf(request);
    const { key, property } = await calling(
      clients.identity.getKey({ propertyId, keyId }, callOptions(callOf(request))),
    );
    if (!key || !property) throw new Error("the key was not returned");
    return sendData(request, reply, accountJson(property, key, limits));
  });
}
