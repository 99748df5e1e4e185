/** Merges two profiles, for good: choose the other one, see what moves and what is lost, then merge. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { type Profile, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, Segments } from "../../components/field.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { EmptyState } from "../../components/states.tsx";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { useProperty } from "../../data/viewer.ts";
import { titleOf } from "./names.ts";
import { FindForm, useFinding } from "./find-profile.tsx";
import { MergePreview } from "./merge-preview.tsx";
import { IdentifiersInShort, shortId } from "./person.tsx";
import { useRereadProfiles } from "./reread.ts";
import { WriteError } from "./write-error.tsx";

export function MergeProfile({
  of: profile,
  otherId,
  onOther,
  onMerged,
  onClose,
}: {
  of: Profile;
  otherId: string | undefined;
  onOther: (id: string | undefined) => void;
  onMerged: (survivorId: string) => void;
  onClose: () => void;
}): React.ReactNode {
  return (
    <Dialog title="Merge with another profile" onClose={onClose} className="wide" isAlert isSticky>
      {otherId === undefined ? (
        <ChooseOther profile={profile} onOther={onOther} onClose={onClose} />
      ) : (
        <Previewed profile={profile} otherId={otherId} onOther={onOther} onMerged={onMerged} onClose={onClose} />
      )}
    </Dialog>
  );
}

function ChooseOther({
  profile,
  onOther,
  onClose,
}: {
  profile: Profile;
  onOther: (id: string) => void;
  onClose: () => void;
}): React.ReactNode {
  const [isSame, setSame] = useState(false);
  const choose = (id: string): void => {
    setSame(id === profile.id);
    if (id !== profile.id) onOther(id);
  };
  const finding = useFinding(({ profileId }) => choose(profileId));
  return (
    <>
      <p>
        Two records of one person become one. Find the record that <bdi>{titleOf(profile)}</bdi> is to be merged with;
        you see what moves before anything is done.
      </p>
      <FindForm finding={finding} label="Find the other profile">
        {isSame && (
          <p className="field-error" role="alert">
            This is the profile itself.
          </p>
        )}
        <ul className="found">
          {finding.choices.map(
            ({ profile: found }) =>
              found && (
                <li key={found.id}>
                  <button type="button" className="button small" onClick={() => choose(found.id)}>
                    <bdi>{titleOf(found)}</bdi>
                  </button>{" "}
                  <IdentifiersInShort of={found} /> <code className="muted">{shortId(found.id)}</code>
                </li>
              ),
          )}
        </ul>
      </FindForm>
      <footer>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </>
  );
}

function Previewed({
  profile,
  otherId,
  onOther,
  onMerged,
  onClose,
}: {
  profile: Profile;
  otherId: string;
  onOther: (id: string | undefined) => void;
  onMerged: (survivorId: string) => void;
  onClose: () => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [keep, setKeep] = useState<"this" | "other">("this");
  const reread = useRereadProfiles();
  const read = useQuery(ProfileService.method.getProfiles, { propertyId, profileIds: [otherId] });
  const other = read.data?.profiles[0];
  const [survivorId, sourceId] = keep === "this" ? [profile.id, otherId] : [otherId, profile.id];
  const merge = useMutation(ProfileService.method.mergeProfiles, {
    onSuccess: async () => {
      await reread();
      toast(`${shortId(sourceId)} is merged into ${shortId(survivorId)}.`);
      onMerged(survivorId);
    },
  });
  // After the merge there is nothing to preview, while the rest of the screen is read anew.
  const isOpen = other !== undefined && !merge.isPending && !merge.isSuccess;
  // Never what was kept of an earlier look: the two may have changed.
  const preview = useQuery(
    ProfileService.method.previewMerge,
    { propertyId, profileId: survivorId, sourceProfileId: sourceId },
    { enabled: isOpen, staleTime: 0, gcTime: 0 },
  );
  const events = useQuery(
    EventService.method.countProfileEvents,
    { propertyId, profileId: sourceId },
    { enabled: isOpen, staleTime: 0 },
  );
  const again = (): void => {
    merge.reset();
    void reread();
  };
  const chooseAnother = (
    <button type="button" className="button" onClick={() => onOther(undefined)}>
      Choose another
    </button>
  );
  if (read.isSuccess && !other) {
    return (
      <EmptyState title="There is no such profile in this property" level={3}>
        {chooseAnother}
      </EmptyState>
    );
  }
  const error = read.error ?? preview.error ?? events.error;
  const [survivor, source] = keep === "this" ? [profile, other] : [other, profile];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!preview.data) return;
        merge.mutate({
          propertyId,
          profileId: survivorId,
          sourceProfileId: sourceId,
          precondition: { versions: [preview.data.survivorVersion] },
        });
      }}
    >
      <Segments
        label="Which one stays"
        value={keep}
        options={[
          { value: "this", title: "Keep this profile" },
          { value: "other", title: "Keep the other one" },
        ]}
        onChange={(value) => {
          merge.reset();
          setKeep(value);
        }}
      />
      {error ? (
        <InlineError error={error} />
      ) : survivor && source && preview.data && events.data ? (
        <MergePreview survivor={survivor} source={source} preview={preview.data} events={events.data} />
      ) : (
        <Skeleton lines={6} />
      )}
      <WriteError error={merge.error} onReload={again} />
      <footer>
        <button type="button" className="button footer-start" onClick={() => onOther(undefined)}>
          Choose another
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <SubmitButton
          className="button dangerous"
          isPending={merge.isPending}
          disabled={!preview.data || !events.data || preview.isFetching}
        >
          Merge for good
        </SubmitButton>
      </footer>
    </form>
  );
}
