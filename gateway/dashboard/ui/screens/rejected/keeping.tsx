/** Whether the property keeps what refused writes had sent. */
import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { toast } from "../../components/toasts.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";

export function Keeping(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayChange = useMay("properties:manage");
  const [isAsked, setAsked] = useState(false);
  const { data } = useQuery(RejectedWriteService.method.getRejectedWriteSettings, { propertyId });
  if (!data) return null;
  return (
    <div className="keeping">
      <span className="muted">
        {data.keepsPayloads
          ? "What was sent is kept for 7 days, entries for 30, counts for 90."
          : "What was sent is not kept here. Entries are kept for 30 days, counts for 90."}
      </span>{" "}
      {mayChange && (
        <button type="button" className="button small" onClick={() => setAsked(true)}>
          {data.keepsPayloads ? "Keep no bodies …" : "Keep bodies …"}
        </button>
      )}
      {isAsked && <Change keeps={data.keepsPayloads} onClose={() => setAsked(false)} />}
    </div>
  );
}

function Change({ keeps, onClose }: { keeps: boolean; onClose: () => void }): React.ReactNode {
  const { id: propertyId, name } = useProperty();
  const client = useQueryClient();
  const update = useMutation(RejectedWriteService.method.updateRejectedWriteSettings, {
    onSuccess: async () => {
      await client.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: RejectedWriteService, cardinality: undefined }),
      });
      toast(keeps ? "Bodies are not kept any more." : "Bodies are kept from now on.");
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={keeps ? "Keep no bodies?" : "Keep bodies?"}
      action={keeps ? "Delete them, and keep none" : "Keep them for 7 days"}
      isPending={update.isPending}
      error={update.error}
      onConfirm={() => update.mutate({ propertyId, keepsPayloads: !keeps })}
      onClose={onClose}
    >
      {keeps ? (
        <p>
          What refused writes of {name} had sent is deleted, for good, and what is refused from now on leaves its error
          only. Entries and counts stay.
        </p>
      ) : (
        <p>
          Of writes that are refused from now on, the first 16 KB of what was sent are kept for 7 days. They may hold
          personal data: who may reveal identifiers sees them, and a redaction empties them.
        </p>
      )}
    </ConfirmDialog>
  );
}
