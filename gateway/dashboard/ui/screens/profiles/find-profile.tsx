/**
 * Finds a profile by one text: an email in any case, a phone, an external id, or the id of a profile or event. The text
 * may be personal data, so it is in the field only: neither in the URL nor in what the browser keeps.
 */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { type FoundProfile, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { InlineError, SearchField } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty } from "../../data/viewer.ts";

const lengthMax = 255;
const noMatch = "No profile has exactly this. Only whole values match, not parts of them.";
const idForm = /^([a-z]+)_[0-9a-z]{26}$/;

export interface Found {
  profileId: string;
  /** The event that was looked for. */
  eventId?: string;
}

export interface Finding {
  find: (text: string) => void;
  clear: () => void;
  isPending: boolean;
  error: unknown;
  /** Several, to choose from. */
  choices: readonly FoundProfile[];
  /** Why there is nothing, and what to do. */
  nothing?: string;
}

/** @param onFound is told of a single profile. */
export function useFinding(onFound: (found: Found) => void): Finding {
  const { id: propertyId } = useProperty();
  const [nothing, setNothing] = useState<string>();
  const search = useMutation(ProfileService.method.findProfiles, {
    gcTime: 0,
    onSuccess: ({ profiles, isCut }) => {
      const [only] = profiles;
      if (only?.profile && profiles.length === 1) onFound({ profileId: only.profile.id });
      else if (!only) {
        setNothing(
          isCut ? `${noMatch} This property has over 100 types of identifiers: not all were looked at.` : noMatch,
        );
      }
    },
  });
  const events = useMutation(EventService.method.getEvents, {
    gcTime: 0,
    onSuccess: ({ events: [event] }) => {
      if (event?.profileId !== undefined) onFound({ profileId: event.profileId, eventId: event.id });
      else setNothing(event ? "This event is anonymous: no profile has its identifier yet." : "No event has this id.");
    },
  });
  const clear = (): void => {
    setNothing(undefined);
    search.reset();
    events.reset();
  };
  const find = (given: string): void => {
    clear();
    const text = given.trim();
    const id = text.toLowerCase();
    const kind = idForm.exec(id)?.[1];
    if (text === "") return;
    if (text.length > lengthMax) setNothing(`An identifier has at most ${lengthMax} characters.`);
    else if (kind === "prof") onFound({ profileId: id });
    // Identifiers have no index by id: it would slow each write down for a look-up that hardly anybody makes.
    else if (kind === "idnt") setNothing("Identifiers are found by their value, or with their profile.");
    else if (kind === "evt") events.mutate({ propertyId, eventIds: [id] });
    else search.mutate({ propertyId, text });
  };
  const { profiles = [] } = search.data ?? {};
  return {
    find,
    clear,
    isPending: search.isPending || events.isPending,
    error: search.error ?? events.error,
    choices: profiles.length > 1 ? profiles : [],
    ...(nothing !== undefined && { nothing }),
  };
}

export function FindForm({
  finding,
  label,
  children,
}: {
  finding: Finding;
  label: string;
  /** The choices, if there are several. */
  children?: React.ReactNode;
}): React.ReactNode {
  const [text, setText] = useState("");
  const field = finding.error ? failureOf(finding.error).fields.get("text") : undefined;
  return (
    <div className="find-profile">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          finding.find(text);
        }}
      >
        <SearchField
          label={label}
          placeholder="Email, phone, external id, prof_… or evt_…"
          value={text}
          onChange={(value) => {
            setText(value);
            finding.clear();
          }}
        />
        <SubmitButton className="button" isPending={finding.isPending} disabled={text.trim() === ""}>
          {finding.isPending ? "Looking …" : "Find"}
        </SubmitButton>
      </form>
      <div role="status" className="find-note">
        {field ?? finding.nothing}
      </div>
      {field === undefined && <InlineError error={finding.error} />}
      {children}
    </div>
  );
}
