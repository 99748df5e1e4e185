import { DaybookError } from "#shared/values/errors.ts";
import { readAccount } from "../../surface/account.ts";
import { accountResource } from "../convert/accounts.ts";
import { toId } from "../convert/ids.ts";
import type { CompatExchange } from "../exchange.ts";
import { answerDocument, type Resource } from "../reply.ts";
import { Account } from "../resources.ts";
import { operation, route } from "../operation.ts";
import { pick } from "../sparse.ts";

const query = { fields: ["account"] };

const list = operation("accounts:read", {
  id: "compatListAccounts",
  summary: "Read the account",
  description: "There is one: the property of the key or access token.",
  query,
  data: Account,
  list: true,
  success: { 200: "The account" },
});

const read = operation("accounts:read", {
  id: "compatGetAccount",
  summary: "Read the account by its id",
  query,
  data: Account,
  success: { 200: "The account" },
});

export const accountRoutes = [
  route("GET", "/accounts", list, async (exchange) => {
    const data = [await readResource(exchange)];
    return answerDocument(exchange.reply, 200, { data, links: exchange.links.page(undefined) });
  }),

  route("GET", "/accounts/:id", read, async (exchange) => {
    if (toId("prop", exchange.id) !== exchange.propertyId) {
      throw new DaybookError("resource_not_found", "An account with this id does not exist.", { param: "id" });
    }
    return answerDocument(exchange.reply, 200, { data: await readResource(exchange), links: exchange.links.self() });
  }),
];

async function readResource(exchange: CompatExchange): Promise<Resource> {
  const { property } = await readAccount(exchange);
  return pick(accountResource(property, exchange.links.to(`/accounts/${property.id}`)), exchange.query);
}
