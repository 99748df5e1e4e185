/** Rejected writes in words. */
import { PayloadState, RejectionSeverity, RejectionSurface } from "#proto/daybook/event/v1/rejected_pb.ts";
import { Badge } from "../../components/page.tsx";

export function Severity({ of }: { of: RejectionSeverity }): React.ReactNode {
  return of === RejectionSeverity.WARNING ? <Badge tone="warning">Warning</Badge> : <Badge tone="bad">Error</Badge>;
}

export const severityAdvice: Record<RejectionSeverity, string> = {
  [RejectionSeverity.UNSPECIFIED]: "",
  [RejectionSeverity.ERROR]: "The data is not on record. The program that sends it must be changed.",
  [RejectionSeverity.WARNING]: "The same request can succeed later, or it was in conflict with another.",
};

export const surfaces: Record<RejectionSurface, string> = {
  [RejectionSurface.UNSPECIFIED]: "",
  [RejectionSurface.NATIVE]: "The native API",
  [RejectionSurface.COMPAT]: "The compatibility API",
};

/** What became of what was sent. */
export const payloadStates: Record<PayloadState, string> = {
  [PayloadState.UNSPECIFIED]: "",
  [PayloadState.KEPT]: "It is kept for 7 days.",
  [PayloadState.TRUNCATED]: "Its first 16 KB are kept for 7 days.",
  [PayloadState.REDACTED]: "It was emptied, because its person was redacted or erased.",
  [PayloadState.NOT_KEPT]:
    "It is not kept: bodies are turned off here, there were too many like it, it is older than 7 days, or it could " +
    "not be read.",
};

export const isKept = (state: PayloadState): boolean => state === PayloadState.KEPT || state === PayloadState.TRUNCATED;
