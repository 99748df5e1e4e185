/** Commands for internal clients: programs that call the RPCs of the services directly. */
import type { InternalClient } from "#proto/daybook/identity/v1/clients_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import { readAll, readList, required, type Command } from "../command.ts";

const pageItems = 500;

export const clientCommands: readonly Command[] = [
  {
    name: "clients list",
    usage: "",
    summary: "the programs that may call the RPCs of the services; their tokens are kept nowhere",
    words: [0, 0],
    options: [],
    async run({ internalClients }) {
      const clients = await readAll<InternalClient>(async (last) => {
        const page = await internalClients.listClients({ limit: pageItems, ...(last && { afterClientId: last.id }) });
        return { items: page.clients, hasMore: page.hasMore };
      });
      const shown = clients.map(showClient);
      return { text: shown.map(clientLine).join("\n"), json: shown };
    },
  },
  {
    name: "clients create",
    usage: "<name>",
    summary: "makes a client and shows its token, this once",
    words: [1, 1],
    options: ["methods"],
    async run({ internalClients }, { words: [name = ""], options: { methods = "" } }) {
      const { client, token } = await internalClients.createClient({ name, methods: readList(methods) });
      const shown = showClient(required(client));
      return { text: `${token}\n${shown.id}; the token is shown this once.`, json: { ...shown, token } };
    },
  },
  {
    name: "clients update",
    usage: "<client id>",
    summary: "replaces what a client may call; services know within 5 seconds",
    words: [1, 1],
    options: ["methods"],
    async run({ internalClients }, { words: [clientId = ""], options: { methods = "" } }) {
      const { client } = await internalClients.updateClient({ clientId, methods: readList(methods) });
      const shown = showClient(required(client));
      return { text: clientLine(shown), json: shown };
    },
  },
  {
    name: "clients revoke",
    usage: "<client id>",
    summary: "ends a client; it can call nothing 5 seconds later",
    words: [1, 1],
    options: [],
    isIrreversible: true,
    async run({ internalClients }, { words: [clientId = ""] }) {
      const { client } = await internalClients.revokeClient({ clientId });
      const shown = showClient(required(client));
      return { text: `${shown.id} is revoked.`, json: shown };
    },
  },
];

function showClient({ id, name, methods, createdAt, revokedAt }: InternalClient) {
  return {
    id,
    name,
    methods,
    created_at: createdAt ? formatTimestamp(createdAt) : null,
    revoked_at: revokedAt ? formatTimestamp(revokedAt) : null,
  };
}

function clientLine({ id, name, methods, revoked_at: revoked }: ReturnType<typeof showClient>): string {
  return [id, name, methods.join(","), ...(revoked === null ? [] : [`revoked ${revoked}`])].join("  ");
}
