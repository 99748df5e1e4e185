/** Redacts a profile, for good, at the person's request. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { type Profile, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { toast } from "../../components/toasts.tsx";
import { useProperty } from "../../data/viewer.ts";
import { attributesOf } from "./attributes.ts";
import { counted } from "./moved.ts";
import { useRereadProfiles } from "./reread.ts";

export function RedactProfile({ of: profile, onClose }: { of: Profile; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const reread = useRereadProfiles();
  const count = useQuery(EventService.method.countProfileEvents, { propertyId, profileId: profile.id });
  const redact = useMutation(ProfileService.method.redactProfile, {
    onSuccess: async () => {
      await reread();
      toast("The profile is redacted.");
      onClose();
    },
  });
  const events = count.data
    ? `${counted(Number(count.data.count), "event")}${count.data.hasMore ? " and more" : ""}`
    : "events";
  const goes = [
    counted(profile.identifiers.length, "identifier"),
    counted(attributesOf(profile.attributesJson).length, "attribute"),
    counted(profile.tags.length, "tag"),
    profile.location ? "the location" : "no location",
  ];
  return (
    <ConfirmDialog
      title="Redact this profile?"
      action="Redact for good"
      typed={profile.id}
      isPending={redact.isPending}
      error={redact.error}
      onConfirm={() => redact.mutate({ propertyId, profileId: profile.id })}
      onClose={onClose}
    >
      <p>
        Do this when the person asks to be forgotten. <strong>It cannot be undone.</strong>
      </p>
      <h3>What is deleted</h3>
      <ul className="consequences">
        <li>At once: {goes.join(", ")}, and what the record of merges shows of them.</li>
        <li>
          Within seconds: properties and dedupe ids of its {events}, also of profiles that were merged into it, and
          copies in stored answers and in messages under way.
        </li>
      </ul>
      <h3>What stays</h3>
      <ul className="consequences">
        <li>The id, the status redacted, and when the profile was made.</li>
        <li>
          That its events happened: type, times, source, value and currency. Counts, sums and unique profiles do not
          change.
        </li>
        <li>Digests of keys that keep repeats out, from which nothing can be read.</li>
        <li>Backups and detached partitions: whoever runs Daybook deletes those.</li>
      </ul>
    </ConfirmDialog>
  );
}
