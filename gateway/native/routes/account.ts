import { readAccount } from "../../surface/account.ts";
import { accountJson } from "../convert/account.ts";
import { answerData } from "../envelope.ts";
import { exampleAccount } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { Account } from "../resources.ts";

const read = operation("accounts:read", {
  id: "getAccount",
  tag: "Account",
  summary: "Read the property and the key or installation of the request",
  description: "To a key it shows `key`, and to an access token `installation` in its place.",
  data: Account,
  success: { 200: "The account" },
  examples: { data: exampleAccount },
});

export const accountRoutes = [
  route("GET", "/account", read, async (exchange) =>
    answerData(exchange, accountJson(await readAccount(exchange), exchange.caller)),
  ),
];
