import type { FastifyRequest } from "fastify";
import { DaybookError } from "#shared/values/errors.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { CompatContext } from "../context.ts";
import { accountResource } from "../convert/accounts.ts";
import { toId } from "../convert/ids.ts";
import type { Links } from "../links.ts";
import { sendDocument, type Resource } from "../reply.ts";
import { Account } from "../resources.ts";
import type { Router } from "../router.ts";
import { pick } from "../sparse.ts";

const query = { fields: ["account"] };

const list = {
  id: "compatListAccounts",
  summary: "Read the account",
  description: "There is one: the property of the key.",
  query,
  data: Account,
  list: true,
  success: { 200: "The account" },
} as const;

const read = {
  id: "compatGetAccount",
  summary: "Read the account by its id",
  query,
  data: Account,
  success: { 200: "The account" },
};

export function accountRoutes(router: Router, { clients }: CompatContext): void {
  async function readAccount(request: FastifyRequest, links: Links): Promise<Resource> {
    const { propertyId, keyId } = callerOf(request);
    const asked = clients.identity.getKey({ propertyId, keyId }, callOptions(callOf(request)));
    const { property } = await calling(asked);
    if (!property) throw new Error("the property was not returned");
    return accountResource(property, links.to(`/accounts/${property.id}`));
  }

  router.route("GET", "/accounts", "accounts:read", list, async ({ request, reply, query: asked, links }) => {
    const data = [pick(await readAccount(request, links), asked)];
    return sendDocument(reply, 200, { data, links: links.page(undefined) });
  });

  router.route("GET", "/accounts/:id", "accounts:read", read, async ({ request, reply, query: asked, links, id }) => {
    if (toId("prop", id) !== callerOf(request).propertyId) {
      throw new DaybookError("resource_not_found", "An account with this id does not exist.", { param: "id" });
    }
    return sendDocument(reply, 200, { data: pick(await readAccount(request, links), asked), links: links.self() });
  });
}
