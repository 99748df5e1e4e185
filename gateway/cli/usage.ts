/** How commands are used. */
import type { Command } from "./commands.ts";

/** The command line is not one that there is. */
export class UsageError extends Error {}

/** What `help` prints. */
export function helpText(commands: readonly Command[]): string {
  const lines = commands.map(({ name, usage, summary }): [string, string] => [`${name} ${usage}`.trim(), summary]);
  const width = Math.max(...lines.map(([line]) => line.length));
  return `Daybook's operator commands

${lines.map(([line, summary]) => `  ${line.padEnd(width)}  ${summary}`).join("\n")}

Options
  --property prop_…  the property that it is about
  --json             the answer as one line of JSON
  --yes              confirms what cannot be undone

They reach the Daybook that npm start runs on DATA_DIR (.daybook unless it is set). Where the services are processes of their
own set INTERNAL_TOKEN, and IDENTITY_URL and PROFILE_URL unless they are on this machine's usual ports.
`;
}
