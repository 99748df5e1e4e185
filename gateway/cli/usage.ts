/** Help texts of commands. */
import { optionTexts, type Command, type OptionName } from "./command.ts";

/** The command line is not valid. */
export class UsageError extends Error {}

/** The command line of a command, as help shows it. */
export function commandLine({ name, usage, options, optional = [], isIrreversible }: Command): string {
  const words = [
    name,
    usage,
    ...options.map(optionLine),
    ...optional.map((option) => `[${optionLine(option)}]`),
    typeof isIrreversible === "function" ? "[--yes]" : isIrreversible ? "--yes" : "",
  ];
  return words.filter((word) => word !== "").join(" ");
}

export function helpText(commands: readonly Command[]): string {
  const options = Object.entries(optionTexts).map(([name, [, text]]): [string, string] => [`--${name}`, text]);
  return `Daybook's operator commands

${commands.map((command) => `  ${commandLine(command)}\n      ${command.summary}`).join("\n")}

Options
${[...options, ["--json", "the answer as one line of JSON"], ["--yes", "confirms what cannot be undone"]]
  .map(([name = "", text]) => `  ${name.padEnd(23)}${text}`)
  .join("\n")}

They reach the Daybook that npm start runs on DATA_DIR (.daybook unless it is set). Where the services are processes of their
own set INTERNAL_TOKEN, and IDENTITY_URL, PROFILE_URL, EVENT_URL and METRIC_URL unless they are on this machine's usual
ports.
`;
}

function optionLine(name: OptionName): string {
  return `--${name} ${optionTexts[name][0]}`;
}
