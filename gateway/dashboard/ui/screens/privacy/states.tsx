/** Privacy requests in words. */
import { type PrivacyRequest, PrivacyRequestStatus, PrivacyRequestType } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { Badge, type Tone } from "../../components/page.tsx";
import { Time, useNow } from "../../components/values.tsx";
import { dateOf } from "../../data/times.ts";

const dayMs = 86_400_000;
export const soonDays = 7;

export const isErasure = ({ type }: PrivacyRequest): boolean => type === PrivacyRequestType.ERASURE;

export const typeOf = (request: PrivacyRequest): string => (isErasure(request) ? "Erasure" : "Access");

export const isPending = ({ status }: PrivacyRequest): boolean => status === PrivacyRequestStatus.PENDING;

/** It goes on by itself. */
export const isUnderWay = (request: PrivacyRequest): boolean =>
  isPending(request) || request.status === PrivacyRequestStatus.IN_PROGRESS;

/** The person still waits. */
export const isOpen = (request: PrivacyRequest): boolean =>
  isUnderWay(request) || request.status === PrivacyRequestStatus.FAILED;

interface State {
  word: string;
  tone: Tone;
}

const unknownState: State = { word: "Unknown", tone: "neutral" };

const states: Partial<Record<PrivacyRequestStatus, State>> = {
  [PrivacyRequestStatus.PENDING]: { word: "Pending", tone: "neutral" },
  [PrivacyRequestStatus.IN_PROGRESS]: { word: "In progress", tone: "accent" },
  [PrivacyRequestStatus.COMPLETED]: { word: "Completed", tone: "good" },
  [PrivacyRequestStatus.FAILED]: { word: "Failed", tone: "bad" },
  [PrivacyRequestStatus.CANCELLED]: { word: "Cancelled", tone: "neutral" },
};

export function RequestState({ of: { status } }: { of: PrivacyRequest }): React.ReactNode {
  const { word, tone } = states[status] ?? unknownState;
  return <Badge tone={tone}>{word}</Badge>;
}

/** When it is due; and whether that is near or past, as long as the person waits. */
export function Due({ of: request, focusable = false }: { of: PrivacyRequest; focusable?: boolean }): React.ReactNode {
  const now = useNow();
  if (!request.dueAt) return null;
  const leftMs = dateOf(request.dueAt).getTime() - now.getTime();
  const isLate = isOpen(request) && leftMs < 0;
  const isSoon = isOpen(request) && !isLate && leftMs < soonDays * dayMs;
  return (
    <span>
      <Time at={request.dueAt} focusable={focusable} /> {isLate && <Badge tone="bad">Overdue</Badge>}
      {isSoon && <Badge tone="warning">Due soon</Badge>}
    </span>
  );
}

/** Whom it is about. Values of identifiers are masked. */
export function Subject({ of: { subjectIdentifiers, subjectProfileId } }: { of: PrivacyRequest }): React.ReactNode {
  const [first, ...others] = subjectIdentifiers;
  if (!first) return <code title={subjectProfileId}>{`prof_…${subjectProfileId?.slice(-6)}`}</code>;
  return (
    <>
      <bdi>{first.displayValue}</bdi>
      {others.length > 0 && <span className="muted"> and {others.length} more</span>}
    </>
  );
}
