/** The commands, each in one place: how it is used, and what it does. */
import { Mode, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { formatTimestamp } from "#shared/time.ts";
import type { Clients } from "../clients.ts";

/** What a command is given. */
interface Arguments {
  /** What stands behind its name. */
  words: string[];
  property: string;
}

/** What a command says, to people and to programs. */
interface Result {
  text: string;
  json: unknown;
}

/** A command. */
export interface Command {
  /** Two words. */
  name: string;
  /** What stands behind them. */
  usage: string;
  summary: string;
  /** How many words at least and at most. */
  words: [min: number, max: number];
  needsProperty: boolean;
  /** What it does cannot be undone. */
  isForGood?: true;
  run(clients: Clients, given: Arguments): Promise<Result>;
}

// The audit of what operators do names them so.
const options = (): ReturnType<typeof callOptions> => callOptions({ requestId: "", caller: "operator" }, 60_000);

const pageItems = 500;
const tagsMax = 250;

export const commands: readonly Command[] = [
  {
    name: "properties list",
    usage: "",
    summary: "the properties with their ids",
    words: [0, 0],
    needsProperty: false,
    async run(clients) {
      const properties: Property[] = [];
      for (let hasMore = true; hasMore;) {
        const after = properties.at(-1)?.id;
        const page = await calling(
          clients.identity.listProperties(
            { limit: pageItems, ...(after === undefined ? {} : { afterPropertyId: after }) },
            options(),
          ),
        );
        properties.push(...page.properties);
        ({ hasMore } = page);
      }
      const shown = properties.map(({ id, name, mode, createdAt }) => ({
        id,
        mode: mode === Mode.LIVE ? "live" : "test",
        name,
        created_at: createdAt ? formatTimestamp(createdAt) : null,
      }));
      return { text: shown.map(({ id, mode, name }) => `${id}  ${mode}  ${name}`).join("\n"), json: shown };
    },
  },
  {
    name: "tags list",
    usage: "<profile id> --property <id>",
    summary: "the tags of a profile",
    words: [1, 1],
    needsProperty: true,
    async run(clients, { words: [profileId = ""], property }) {
      const { profiles } = await calling(
        clients.profiles.getProfiles({ propertyId: property, profileIds: [profileId], resolveMerged: true }, options()),
      );
      const [profile] = profiles;
      if (!profile) throw new DaybookError("resource_not_found", "There is no such profile.");
      return showTags(profile);
    },
  },
  {
    name: "tags add",
    usage: "<profile id> <tag>… --property <id>",
    summary: "gives tags to a profile",
    words: [2, tagsMax + 1],
    needsProperty: true,
    run: (clients, given) => changeTags(clients, given, { add: given.words.slice(1) }),
  },
  {
    name: "tags remove",
    usage: "<profile id> <tag>… --property <id>",
    summary: "takes tags from a profile",
    words: [2, tagsMax + 1],
    needsProperty: true,
    run: (clients, given) => changeTags(clients, given, { remove: given.words.slice(1) }),
  },
  {
    name: "tags set",
    usage: "<profile id> [<tag>…] --property <id>",
    summary: "gives a profile these tags and no others",
    words: [1, tagsMax + 1],
    needsProperty: true,
    run: (clients, given) => changeTags(clients, given, { add: given.words.slice(1), replace: true }),
  },
  {
    name: "profile-refs enable",
    usage: "--property <id>",
    summary: "gives every profile of a property a compact reference",
    words: [0, 0],
    needsProperty: true,
    async run(clients, { property }) {
      let assigned = 0;
      for (let isComplete = false; !isComplete;) {
        const step = await calling(clients.profiles.setProfileRefs({ propertyId: property, enabled: true }, options()));
        assigned += step.assigned;
        isComplete = step.complete;
      }
      return { text: `Enabled; ${assigned} profiles were given a reference.`, json: { enabled: true, assigned } };
    },
  },
  {
    name: "profile-refs disable",
    usage: "--property <id>",
    summary: "shows them no more; enabling shows the same ones again",
    words: [0, 0],
    needsProperty: true,
    async run(clients, { property }) {
      await calling(clients.profiles.setProfileRefs({ propertyId: property, enabled: false }, options()));
      return { text: "Disabled.", json: { enabled: false } };
    },
  },
  {
    name: "profiles redact",
    usage: "<profile id> --property <id> --yes",
    summary: "empties a profile and its events for good",
    words: [1, 1],
    needsProperty: true,
    isForGood: true,
    async run(clients, { words: [profileId = ""], property }) {
      const { profile } = await calling(clients.profiles.redactProfile({ propertyId: property, profileId }, options()));
      const { id } = whole(profile);
      return { text: `${id} is redacted.`, json: { id, status: "redacted" } };
    },
  },
];

async function changeTags(
  clients: Clients,
  { words: [profileId = ""], property }: Arguments,
  change: { add?: string[]; remove?: string[]; replace?: boolean },
): Promise<Result> {
  const { profile } = await calling(
    clients.profiles.updateTags({ propertyId: property, profileId, ...change }, options()),
  );
  return showTags(whole(profile));
}

function showTags({ id, tags }: Profile): Result {
  return { text: tags.join("\n") || "(none)", json: { profile_id: id, tags } };
}

function whole(profile: Profile | undefined): Profile {
  if (!profile) throw new Error("the profile was not returned");
  return profile;
}
