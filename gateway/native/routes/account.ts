import { accountJson } from "../convert/account.ts";
import { sendData } from "../envelope.ts";
import { exampleAccount } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { Account } from "../resources.ts";

const read = operation("accounts:read", {
  id: "getAccount",
  tag: "Account",
  summary: "Read the property and the key of the request",
  data: Account,
  success: { 200: "The account" },
  examples: { data: exampleAccount },
});

export const accountRoutes = [
  route("GET", "/account", read, async (exchange) => {
    const { caller, propertyId, services } = exchange;
    const { key, property } = await services.identity.getKey({ propertyId, keyId: caller.callerId });
    if (!key || !property) throw new Error("the key was not returned");
    return sendData(exchange, accountJson(property, key, caller.limits));
  }),
];
