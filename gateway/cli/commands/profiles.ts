/** Commands for profiles: tags, compact references, redaction. */
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Arguments, Command, OperatorServices, Result } from "../command.ts";

const tagsMax = 250;

export const profileCommands: readonly Command[] = [
  {
    name: "tags list",
    usage: "<profile id>",
    summary: "the tags of a profile",
    words: [1, 1],
    options: ["property"],
    async run(services, { words: [profileId = ""], options: { property = "" } }) {
      const { profiles } = await services.profiles.getProfiles({
        propertyId: property,
        profileIds: [profileId],
        resolveMerged: true,
      });
      const [profile] = profiles;
      if (!profile) throw new DaybookError("resource_not_found", "There is no such profile.");
      return showTags(profile);
    },
  },
  {
    name: "tags add",
    usage: "<profile id> <tag>…",
    summary: "gives tags to a profile",
    words: [2, tagsMax + 1],
    options: ["property"],
    run: (services, given) => changeTags(services, given, { add: given.words.slice(1) }),
  },
  {
    name: "tags remove",
    usage: "<profile id> <tag>…",
    summary: "takes tags from a profile",
    words: [2, tagsMax + 1],
    options: ["property"],
    run: (services, given) => changeTags(services, given, { remove: given.words.slice(1) }),
  },
  {
    name: "tags set",
    usage: "<profile id> [<tag>…]",
    summary: "gives a profile these tags and no others",
    words: [1, tagsMax + 1],
    options: ["property"],
    run: (services, given) => changeTags(services, given, { add: given.words.slice(1), replace: true }),
  },
  {
    name: "profile-refs enable",
    usage: "",
    summary: "gives every profile of a property a compact reference",
    words: [0, 0],
    options: ["property"],
    async run(services, { options: { property = "" } }) {
      let assigned = 0;
      for (let isComplete = false; !isComplete;) {
        const step = await services.profiles.setProfileRefs({ propertyId: property, enabled: true });
        assigned += step.assigned;
        isComplete = step.complete;
      }
      return { text: `Enabled; ${assigned} profiles were given a reference.`, json: { enabled: true, assigned } };
    },
  },
  {
    name: "profile-refs disable",
    usage: "",
    summary: "shows them no more; enabling shows the same ones again",
    words: [0, 0],
    options: ["property"],
    async run(services, { options: { property = "" } }) {
      await services.profiles.setProfileRefs({ propertyId: property, enabled: false });
      return { text: "Disabled.", json: { enabled: false } };
    },
  },
  {
    name: "profiles redact",
    usage: "<profile id>",
    summary: "empties a profile and its events for good; a merged one stands for its survivor",
    words: [1, 1],
    options: ["property"],
    isIrreversible: true,
    async run(services, { words: [profileId = ""], options: { property = "" } }) {
      const { profile, resolvedFrom } = await services.profiles.redactProfile({ propertyId: property, profileId });
      const { id } = required(profile);
      const merged = resolvedFrom === undefined ? "" : ` ${resolvedFrom} was merged into it: they are one person.`;
      const json = { id, status: "redacted", resolved_from: resolvedFrom };
      return { text: `${id} is redacted.${merged}`, json };
    },
  },
];

async function changeTags(
  services: OperatorServices,
  { words: [profileId = ""], options: { property = "" } }: Arguments,
  change: { add?: string[]; remove?: string[]; replace?: boolean },
): Promise<Result> {
  const { profile } = await services.profiles.updateTags({ propertyId: property, profileId, ...change });
  return showTags(required(profile));
}

function showTags({ id, tags }: Profile): Result {
  return { text: tags.join("\n") || "(none)", json: { profile_id: id, tags } };
}

function required(profile: Profile | undefined): Profile {
  if (!profile) throw new Error("the profile was not returned");
  return profile;
}
