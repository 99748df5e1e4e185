/** Takes a person's request. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { PrivacyRequestType, PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, Segments, Select, TextField } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { toast } from "../../components/toasts.tsx";
import { failureOf } from "../../data/failures.ts";
import { localText } from "../../data/times.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { type IdentifierDraft, IdentifiersField } from "./identifiers-field.tsx";
import { useRereadPrivacy } from "./reread.ts";

export type Kind = "access" | "erasure";

const dayMs = 86_400_000;
const eraseWord = "erase";
const profileForm = /^prof_[0-9a-z]{26}$/;

const regulations = [
  { value: "", title: "Not said" },
  { value: "gdpr", title: "GDPR" },
  { value: "ccpa", title: "CCPA" },
  { value: "other", title: "Another" },
] as const;

const delays = [
  { value: "0", title: "At once" },
  { value: "1", title: "In a day" },
  { value: "3", title: "In 3 days" },
  { value: "7", title: "In a week" },
  { value: "29", title: "In 29 days" },
] as const;

interface Draft {
  by: "profile" | "identifiers";
  profileId: string;
  identifiers: readonly IdentifierDraft[];
  regulation: (typeof regulations)[number]["value"];
  reference: string;
  /** As an input of the type datetime-local has it; empty: now. */
  submittedAt: string;
  delayDays: (typeof delays)[number]["value"];
  suppress: boolean;
}

/** What CreatePrivacyRequest takes. */
function toRequest(kind: Kind, draft: Draft, now: number) {
  const { by, profileId, identifiers, regulation, reference, submittedAt, delayDays, suppress } = draft;
  return {
    type: kind === "erasure" ? PrivacyRequestType.ERASURE : PrivacyRequestType.ACCESS,
    ...(by === "profile"
      ? { profileId: profileId.trim() }
      : { identifiers: identifiers.map(({ type, value }) => ({ type: type.trim(), value: value.trim() })) }),
    ...(regulation !== "" && { regulation }),
    ...(reference.trim() !== "" && { reference: reference.trim() }),
    ...(submittedAt !== "" && { submittedAt: new Date(submittedAt).toISOString() }),
    ...(delayDays !== "0" && { notBefore: new Date(now + Number(delayDays) * dayMs).toISOString() }),
    ...(kind === "erasure" && { suppress }),
  };
}

/** @param onClose with the id of the request that was made, if it was. */
export default function CreateRequest({
  kind,
  profileId,
  onKind,
  onClose,
}: {
  kind: Kind;
  /** Of the person, if it is known. */
  profileId: string | undefined;
  onKind: (kind: Kind) => void;
  onClose: (made?: string) => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayErase = useMay("privacy:delete");
  const mayExport = useMay("privacy:export");
  const [draft, setDraft] = useState<Draft>(() => ({
    by: profileId === undefined ? "identifiers" : "profile",
    profileId: profileId ?? "",
    identifiers: [{ row: 0, type: "email", value: "" }],
    regulation: "",
    reference: "",
    submittedAt: "",
    delayDays: "0",
    suppress: false,
  }));
  const [typed, setTyped] = useState("");
  const [openedAt] = useState(() => new Date());
  const reread = useRereadPrivacy();
  const create = useMutation(PrivacyService.method.createPrivacyRequest, {
    // What was sent has the identifiers.
    gcTime: 0,
    onSuccess: ({ request, known }) => {
      reread();
      toast(known ? "There was a request with this reference already." : "The request is taken.");
      onClose(request?.id);
    },
  });
  const set = (next: Partial<Draft>): void => setDraft({ ...draft, ...next });
  const isErasure = kind === "erasure";
  const isOfProfile = draft.by === "profile";
  const isNamed = isOfProfile
    ? profileForm.test(draft.profileId.trim())
    : draft.identifiers.every(({ type, value }) => type.trim() !== "" && value.trim() !== "");
  // The id, where there is one: whoever types it has looked at whom it names.
  const asked = isOfProfile && isNamed ? draft.profileId.trim() : eraseWord;
  const fields = create.error ? failureOf(create.error).fields : new Map<string, string>();
  const faultOf = (field: string): string | undefined =>
    [...fields].find(([param]) => param === field || param.startsWith(`${field}.`))?.[1];
  const atFields = ["profile_id", "identifiers", "reference", "submitted_at", "regulation"];
  return (
    <Dialog title={isErasure ? "Erase a person" : "Export what is kept of a person"} onClose={() => onClose()} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ propertyId, ...toRequest(kind, draft, Date.now()) });
        }}
        noValidate
      >
        {mayErase && mayExport && (
          <Segments
            label="What the person asks for"
            value={kind}
            options={[
              { value: "access", title: "Access" },
              { value: "erasure", title: "Erasure" },
            ]}
            onChange={onKind}
          />
        )}
        <p>
          {isErasure
            ? "All that is known of the person is deleted, for good: identifiers, attributes, properties of events, copies in webhooks and refused writes. Events stay as counts."
            : "All that is kept of the person becomes a file to download: identifiers in full, attributes, events, tags and merges. It can be had for 7 days."}
        </p>
        <Segments
          label="By what the person is named"
          value={draft.by}
          options={[
            { value: "identifiers", title: "Identifiers" },
            { value: "profile", title: "Profile" },
          ]}
          onChange={(by) => set({ by })}
        />
        {isOfProfile ? (
          <TextField
            label="Profile id"
            help="Profiles that were merged into it are found by themselves."
            required
            placeholder="prof_…"
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            value={draft.profileId}
            onChange={(value) => set({ profileId: value })}
            error={faultOf("profile_id")}
          />
        ) : (
          <IdentifiersField
            identifiers={draft.identifiers}
            error={faultOf("identifiers")}
            onChange={(identifiers) => set({ identifiers })}
          />
        )}
        <div className="two">
          <Select
            label="Law"
            value={draft.regulation}
            options={regulations}
            onChange={(regulation) => set({ regulation })}
            error={faultOf("regulation")}
          />
          <Select
            label="Begins"
            help="Until then it can be cancelled."
            value={draft.delayDays}
            options={delays}
            onChange={(delayDays) => set({ delayDays })}
          />
          <TextField
            label="Reference"
            help="Your own, such as a ticket."
            maxLength={255}
            autoComplete="off"
            value={draft.reference}
            onChange={(reference) => set({ reference })}
            error={faultOf("reference")}
          />
          <TextField
            label="When the person asked"
            help="It is due 30 days later. Empty: now."
            type="datetime-local"
            max={localText(openedAt)}
            value={draft.submittedAt}
            onChange={(submittedAt) => set({ submittedAt })}
            error={faultOf("submitted_at")}
          />
        </div>
        {isErasure && (
          <>
            <label className="choice">
              <input
                type="checkbox"
                checked={draft.suppress}
                onChange={({ target }) => set({ suppress: target.checked })}
              />
              <span>
                Keep the identifiers out from then on
                <span className="help">
                  Writes with one of them are refused, so that the next sync does not bring the person back.
                </span>
              </span>
            </label>
            <TextField
              label={`Type ${asked} to confirm`}
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={setTyped}
            />
          </>
        )}
        <InlineError error={atFields.some((field) => faultOf(field) !== undefined) ? undefined : create.error} />
        <footer>
          <button type="button" className="button" onClick={() => onClose()}>
            Cancel
          </button>
          <SubmitButton
            isPending={create.isPending}
            className={isErasure ? "button dangerous" : "button primary"}
            disabled={!isNamed || (isErasure && typed.trim() !== asked)}
          >
            {isErasure ? "Erase for good" : "Create the request"}
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
