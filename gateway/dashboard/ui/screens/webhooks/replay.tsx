/** Sends again what happened in a span of time, from what is stored. */
import { useMutation } from "@connectrpc/connect-query";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { type Endpoint, ReplayChoice, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { toast } from "../../components/toasts.tsx";
import { failureOf } from "../../data/failures.ts";
import { localText } from "../../data/times.ts";
import { useRereadWebhooks } from "./reread.ts";
import { allTypes, messageTypes } from "./types.ts";

const dayMs = 86_400_000;

const choices = [
  {
    only: ReplayChoice.FAILED,
    title: "What it did not get",
    detail: "Failed, cancelled, or never sent because the endpoint was disabled or not there yet.",
  },
  {
    only: ReplayChoice.ALL,
    title: "Everything",
    detail: "Also what it got already. Its server tells them by webhook-id, which stays the same.",
  },
] as const;

export function ReplayMessages({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): React.ReactNode {
  const [start] = useState(() => new Date());
  const [from, setFrom] = useState(() => localText(new Date(start.getTime() - dayMs)));
  const [to, setTo] = useState(() => localText(start));
  const [only, setOnly] = useState<ReplayChoice>(ReplayChoice.FAILED);
  const known = endpoint.types.includes(allTypes) ? messageTypes.map(({ type }) => type) : endpoint.types;
  const [types, setTypes] = useState<ReadonlySet<string>>(() => new Set(known));
  const reread = useRereadWebhooks();
  const replay = useMutation(WebhookService.method.createReplay, {
    onSuccess: () => {
      reread();
      toast("The replay has begun. The webhook shows how far it is.");
      onClose();
    },
  });
  const range = { from: new Date(from), to: new Date(to) };
  const isValid = range.from.getTime() < range.to.getTime();
  const fields = replay.error ? failureOf(replay.error).fields : undefined;
  const isAtField = fields?.has("from") === true || fields?.has("to") === true;
  return (
    <Dialog title="Replay messages" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          replay.mutate({
            propertyId: endpoint.propertyId,
            endpointId: endpoint.id,
            from: timestampFromDate(range.from),
            to: timestampFromDate(range.to),
            types: types.size === known.length ? [] : [...types],
            only,
          });
        }}
      >
        <p>
          Messages are made anew from what is stored and sent to <code>{endpoint.url}</code>: at most 100,000.
        </p>
        <div className="two">
          <TextField
            label="From"
            type="datetime-local"
            required
            value={from}
            onChange={setFrom}
            error={fields?.get("from")}
          />
          <TextField
            label="To"
            type="datetime-local"
            required
            value={to}
            onChange={setTo}
            error={isValid ? fields?.get("to") : "The end must be after the start."}
          />
        </div>
        <p className="help">
          When events were received, in your time zone: {new Intl.DateTimeFormat().resolvedOptions().timeZone}
        </p>
        <fieldset>
          <legend>What to send</legend>
          {choices.map(({ only: choice, title, detail }) => (
            <label key={choice} className="choice">
              <input type="radio" name="only" checked={only === choice} onChange={() => setOnly(choice)} />
              <span>
                <strong>{title}</strong>
                <span className="help">{detail}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {known.length > 1 && (
          <fieldset>
            <legend>Of these types</legend>
            {known.map((type) => (
              <label key={type} className="choice">
                <input
                  type="checkbox"
                  checked={types.has(type)}
                  onChange={({ target }) => {
                    const one = new Set([type]);
                    setTypes(target.checked ? types.union(one) : types.difference(one));
                  }}
                />
                <code>{type}</code>
              </label>
            ))}
          </fieldset>
        )}
        <InlineError error={isAtField ? undefined : replay.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={replay.isPending} disabled={!isValid || types.size === 0}>
            Begin the replay
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
