/** `npm run -s daybook -- <command>`: the operator's terminal, over the same RPC clients as the gateway. */
import { parseArgs } from "node:util";
import { ConfigError } from "#shared/config.ts";
import { DaybookError } from "#shared/errors.ts";
import { createClients } from "../clients.ts";
import { commands, type Command } from "./commands.ts";
import { connect } from "./connection.ts";
import { helpText, UsageError } from "./usage.ts";

async function main(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [area = "help", action = ""] = positionals;
  if (values.help || area === "help") {
    process.stdout.write(helpText(commands));
    return;
  }
  const command = commands.find((known) => known.name === `${area} ${action}`);
  if (!command) throw new UsageError(`There is no command "${positionals.slice(0, 2).join(" ")}".`);
  const words = positionals.slice(2);
  checkUsage(command, words, values);
  const clients = createClients(await connect(process.env));
  const result = await command.run(clients, { words, property: values.property ?? "" });
  process.stdout.write(values.json ? `${JSON.stringify(result.json)}\n` : `${result.text}\n`);
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        property: { type: "string" },
        json: { type: "boolean", default: false },
        yes: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function checkUsage(command: Command, words: string[], options: { property?: string | undefined; yes: boolean }): void {
  const { name, usage } = command;
  const [min, max] = command.words;
  if (words.length < min || words.length > max) throw new UsageError(`Use it as: daybook ${name} ${usage}`);
  if (command.needsProperty && options.property === undefined) {
    throw new UsageError("Say of which property with --property prop_…; daybook properties list shows them.");
  }
  if (command.isForGood && !options.yes) throw new UsageError(`${name} is for good. Say --yes if you mean it.`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\nnpm run -s daybook -- help tells more.\n`);
    process.exitCode = 2;
  } else if (error instanceof DaybookError || error instanceof ConfigError) {
    const code = error instanceof DaybookError ? ` (${error.code})` : "";
    process.stderr.write(`${error.message}${code}\n`);
    process.exitCode = 1;
  } else throw error;
} finally {
  // Connections to the services are kept open for a next call, and there is none.
  process.exit();
}
