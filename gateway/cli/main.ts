/** `npm run -s daybook -- <command>`: the operator's command line, over the same RPC clients as the gateway. */
import { parseArgs } from "node:util";
import { Code, ConnectError } from "@connectrpc/connect";
import { ConfigError } from "#shared/process/config.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { createClients } from "../clients.ts";
import { bindToOperator, optionTexts, type Arguments, type Command, type OptionName } from "./command.ts";
import { appCommands } from "./commands/apps.ts";
import { webhookCommands } from "./commands/webhooks.ts";
import { busCommands } from "./commands/bus.ts";
import { clientCommands } from "./commands/clients.ts";
import { identityCommands } from "./commands/identity.ts";
import { memberCommands } from "./commands/members.ts";
import { metricCommands } from "./commands/metrics.ts";
import { privacyCommands } from "./commands/privacy.ts";
import { rejectedWriteCommands } from "./commands/rejected-writes.ts";
import { profileCommands } from "./commands/profiles.ts";
import { connect } from "./connection.ts";
import { commandLine, helpText, UsageError } from "./usage.ts";

const commands: readonly Command[] = [
  ...identityCommands,
  ...clientCommands,
  ...memberCommands,
  ...appCommands,
  ...webhookCommands,
  ...profileCommands,
  ...privacyCommands,
  ...metricCommands,
  ...rejectedWriteCommands,
  ...busCommands,
];
const optionNames = Object.keys(optionTexts) as OptionName[];

/** @returns what goes to standard output. */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { positionals, options, flags } = readArguments(args);
  const [area = "help", action = ""] = positionals;
  if (flags.help || area === "help") return helpText(commands);
  const command = commands.find((known) => known.name === `${area} ${action}`);
  if (!command) throw new UsageError(`There is no command "${positionals.slice(0, 2).join(" ")}".`);
  const given: Arguments = { words: positionals.slice(2), options };
  checkUsage(command, given, flags.yes);
  const { transports, publicUrl } = await connect(env);
  const result = await command.run(bindToOperator(createClients(transports), publicUrl), given);
  return flags.json
    ? `${JSON.stringify(result.json)}
`
    : `${result.text}
`;
}

function readArguments(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...(Object.fromEntries(optionNames.map((name) => [name, { type: "string" }])) as Record<
          OptionName,
          { type: "string" }
        >),
        json: { type: "boolean", default: false },
        yes: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const { json, yes, help, ...options } = values;
    return { positionals, options, flags: { json, yes, help } };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function checkUsage(command: Command, given: Arguments, isSure: boolean): void {
  const { words, options } = given;
  const [min, max] = command.words;
  const missing = command.options.some((name) => options[name] === undefined);
  if (missing || words.length < min || words.length > max) {
    throw new UsageError(`Use it as: daybook ${commandLine(command)}`);
  }
  const known = new Set([...command.options, ...(command.optional ?? [])]);
  const unknown = optionNames.find((name) => options[name] !== undefined && !known.has(name));
  if (unknown) throw new UsageError(`${command.name} takes no --${unknown}.`);
  const { isIrreversible = false } = command;
  const isForGood = typeof isIrreversible === "function" ? isIrreversible(given) : isIrreversible;
  if (isForGood && !isSure) throw new UsageError(`${command.name} is for good. Say --yes if you mean it.`);
}

/** One line for an expected error, the stack for any other. */
function describe(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof DaybookError)) return error instanceof Error ? String(error.stack) : String(error);
  const isTokenRefused = error.cause instanceof ConnectError && error.cause.code === Code.Unauthenticated;
  return isTokenRefused ? "INTERNAL_TOKEN is not that of these services." : `${error.message} (${error.code})`;
}

/** How a command ended. */
export interface Ended {
  /** The exit code. */
  code: number;
  out: string;
  err: string;
}

/** Runs a command. Its connections to the services stay open. */
export async function runCommand(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  try {
    return { code: 0, out: await main(args, env), err: "" };
  } catch (error) {
    if (!(error instanceof UsageError)) return { code: 1, out: "", err: `${describe(error)}\n` };
    return { code: 2, out: "", err: `${error.message}\nnpm run -s daybook -- help tells more.\n` };
  }
}

if (import.meta.main) {
  const { code, out, err } = await runCommand(process.argv.slice(2), process.env);
  process.stdout.write(out);
  process.stderr.write(err);
  // Open connections to the services would keep the process alive.
  process.exit(code);
}
