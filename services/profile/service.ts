import { join } from "node:path";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { migrate } from "#shared/migrate.ts";
import type { Service, ServiceContext } from "#shared/service.ts";
import { getProfiles } from "./rpc/get-profiles.ts";
import { resolveProfiles } from "./rpc/resolve-profiles.ts";
import { upsertProfile } from "./rpc/upsert-profile.ts";
import { probe } from "./sql/profiles.ts";

const migrations = join(import.meta.dirname, "migrations");

/** Makes the profile service. */
export function createProfile(context: ServiceContext): Service {
  return {
    routes(router) {
      router.service(ProfileService, {
        resolveProfiles: resolveProfiles(context),
        upsertProfile: upsertProfile(context),
        getProfiles: getProfiles(context),
      });
    },
    start: () => migrate(context.database, "profile", migrations),
    async checkReady() {
      await probe(context.database, []);
    },
    close: () => Promise.resolve(),
  };
}
