/** Hides values of identifiers in answers, as the API does for a key that may not see them. */
import type { ImportError, Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { toPayload } from "../compat/convert/jobs.ts";
import { withoutHiddenAttributes } from "../hidden-attributes.ts";
import { maskValue } from "../native/convert/profiles.ts";

export function maskProfiles({ profiles }: { profiles: Profile[] }): void {
  for (const profile of profiles) maskProfile({ profile });
}

export function maskProfile({ profile }: { profile?: Profile | undefined }): void {
  if (!profile) return;
  for (const identifier of profile.identifiers) identifier.value = maskValue(identifier);
  profile.attributesJson = withoutHiddenAttributes(profile.attributesJson);
}

export function maskFound({ profiles }: { profiles: { profile?: Profile | undefined }[] }): void {
  for (const found of profiles) maskProfile(found);
}

export function maskImportErrors({ errors }: { errors: ImportError[] }): void {
  for (const error of errors) error.originalJson = JSON.stringify(toPayload(error.originalJson, false));
}
