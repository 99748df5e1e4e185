/**
 * oidc-provider without its main file, which prints a warning at each start of a Node that it does not know as an LTS
 * release. The package has no other entries, so their types are those of the main file.
 */
import type * as Library from "oidc-provider";

async function load<Part>(path: string): Promise<Part> {
  return (await import(`oidc-provider/lib/${path}`)) as Part;
}

export const { Provider } = await load<Pick<typeof Library, "Provider">>("provider.js");
export const errors = await load<typeof Library.errors>("helpers/errors.js");
export const interactionPolicy = await load<typeof Library.interactionPolicy>("helpers/interaction_policy/index.js");
