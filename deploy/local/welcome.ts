/** What `npm start` says once it is ready. */
import type { Transport } from "@connectrpc/connect";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { version } from "#shared/process/version.ts";
import { createServiceClient } from "#shared/rpc/clients.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { ModeName } from "#shared/values/key-form.ts";
import { hashSecret } from "../../services/identity/domain/secret.ts";

/** Whether a key is valid. A database that was in use before has other keys. */
async function isGood(secret: string, identity: Transport): Promise<boolean> {
  const call = systemCall("npm start");
  const client = createServiceClient(IdentityService, identity);
  return client.authenticateKey({ secretHash: hashSecret(secret) }, call).then(
    () => true,
    () => false,
  );
}

/** The token of a setup link while there is no member, else undefined. */
async function makeSetupToken(identity: Transport): Promise<string | undefined> {
  try {
    const { token } = await createServiceClient(MemberService, identity).createSetupLink({}, systemCall("npm start"));
    return token;
  } catch (error) {
    if (error instanceof DaybookError && error.code === "invalid_state_transition") return undefined;
    throw error;
  }
}

interface Welcome {
  address: string;
  publicUrl: string;
  /** To the identity service. */
  identity: Transport;
  secrets: { liveKey: string; testKey: string };
  /** Keys from settings. They are not repeated, because the output may go to a log that others read. */
  given: Record<ModeName, string | undefined>;
}

/** What a start says. The token of the setup link is shown nowhere else. */
export async function welcome({ address, publicUrl, identity, secrets, given }: Welcome): Promise<string> {
  const keys = (await isGood(secrets.testKey, identity)) ? secrets : undefined;
  const setup = await makeSetupToken(identity);
  const event = {
    type: "order.completed",
    identifier: { type: "email", value: "ada@example.com" },
    properties: { order_id: "1001", items: [{ sku: "TEA-1", quantity: 2 }] },
    value: "49.90",
    currency: "EUR",
  };
  const show = (key: string, mode: ModeName): string =>
    given[mode] === undefined ? key : `the value of BOOTSTRAP_${mode.toUpperCase()}_KEY`;
  const shown = keys
    ? `  Key for tests:      ${show(keys.testKey, "test")}\n  Key for real data:  ${show(keys.liveKey, "live")}`
    : "  This database was in use before: its keys are those that were made then. Put one into DAYBOOK_KEY.";
  const variable = keys ? "$BOOTSTRAP_TEST_KEY" : "$DAYBOOK_KEY";
  const authorization =
    keys && given.test === undefined
      ? `'Authorization: Bearer ${keys.testKey}'`
      : `"Authorization: Bearer ${variable}"`;
  const dashboard =
    setup === undefined
      ? `${publicUrl}/dashboard`
      : `${publicUrl}/dashboard/setup#${setup}
  It works once, for an hour. npm start again, or npm run -s daybook -- members setup, makes another.`;
  return `
Daybook ${version} is ready at ${address}

Open the dashboard: ${dashboard}

${shown}

Record an event:

curl -sS ${address}/v1/events -H ${authorization} -H 'Content-Type: application/json' -d '${JSON.stringify(event)}'

`;
}
