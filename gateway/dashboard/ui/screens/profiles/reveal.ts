/**
 * The values of a profile's identifiers, while somebody wants to see them. They are in the state of one screen only:
 * they go with it, with "Hide", and when the profile changes.
 */
import { useMutation } from "@connectrpc/connect-query";
import { DashboardService } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { useMay, useProperty } from "../../data/viewer.ts";

export interface Reveal {
  /** With values, while they are revealed. */
  profile?: Profile;
  may: boolean;
  isPending: boolean;
  error: unknown;
  show: () => void;
  hide: () => void;
}

export function useReveal(shown: Profile): Reveal {
  const { id: propertyId } = useProperty();
  const may = useMay("identifiers:read_value");
  const reveal = useMutation(DashboardService.method.revealProfile, { gcTime: 0 });
  const profile = reveal.data?.profile;
  // Values of another version may be of identifiers that are gone.
  const isOfNow = profile?.id === shown.id && profile.version === shown.version;
  return {
    ...(profile && isOfNow && { profile }),
    may,
    isPending: reveal.isPending,
    error: reveal.error,
    show: () => reveal.mutate({ propertyId, profileId: shown.id }),
    hide: reveal.reset,
  };
}
