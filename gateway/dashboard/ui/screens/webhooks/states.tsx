/** What endpoints, deliveries and attempts are now, in words. */
import {
  type Attempt,
  type Delivery,
  DeliveryError,
  DeliveryStatus,
  DeliveryTrigger,
  DisabledReason,
  type Endpoint,
  type EndpointHealth,
  EndpointStatus,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Badge, type Tone } from "../../components/page.tsx";
import { Time, useNow } from "../../components/values.tsx";
import { dateOf } from "../../data/times.ts";

export const isEnabled = ({ status }: Endpoint): boolean => status === EndpointStatus.ENABLED;

interface Ending {
  words: string;
  tone: Tone;
  advice: string;
}

const endings: Partial<Record<DisabledReason, Ending>> = {
  [DisabledReason.MANUAL]: {
    words: "by somebody",
    tone: "neutral",
    advice: "Nothing is sent. Enable it, then replay the time that it was away.",
  },
  [DisabledReason.FAILING]: {
    words: "it kept failing",
    tone: "bad",
    advice:
      "Nothing got through for 5 days, so Daybook stopped sending. Send a test: once it succeeds, enable the endpoint " +
      "and replay what it missed.",
  },
  [DisabledReason.GONE]: {
    words: "it answered 410",
    tone: "bad",
    advice: "Its server said 410 Gone: it wants no more messages. Ask whoever runs it before you enable it again.",
  },
  [DisabledReason.OWNER_ENDED]: {
    words: "its maker has ended",
    tone: "warning",
    advice:
      "The key or app that made it was revoked, or may not read its types any more. It cannot be enabled again: create " +
      "another endpoint.",
  },
};

const unknownEnding: Ending = { words: "", tone: "neutral", advice: "Nothing is sent." };

/** Why one is disabled that is. */
export function endingOf({ disabledReason }: Endpoint): Ending {
  return endings[disabledReason] ?? unknownEnding;
}

export function EndpointState({ of, health }: { of: Endpoint; health?: EndpointHealth | undefined }): React.ReactNode {
  const now = useNow();
  if (!isEnabled(of)) {
    const { words, tone } = endingOf(of);
    return (
      <span>
        <Badge tone={tone}>Disabled</Badge> {words !== "" && <span className="muted nowrap">{words}</span>}
      </span>
    );
  }
  if (health?.pausedUntil && dateOf(health.pausedUntil) > now) {
    return (
      <span>
        <Badge tone="warning">Paused</Badge> <span className="muted">tried again</span> <Time at={health.pausedUntil} />
      </span>
    );
  }
  if (of.failingSince) {
    return (
      <span>
        <Badge tone="bad">Failing</Badge> <span className="muted">since</span> <Time at={of.failingSince} />
      </span>
    );
  }
  return <Badge tone="good">Enabled</Badge>;
}

interface State {
  word: string;
  tone: Tone;
}

const unknownState: State = { word: "Unknown", tone: "neutral" };

const deliveryStates: Partial<Record<DeliveryStatus, State>> = {
  [DeliveryStatus.PENDING]: { word: "Pending", tone: "accent" },
  [DeliveryStatus.DELIVERED]: { word: "Delivered", tone: "good" },
  [DeliveryStatus.FAILED]: { word: "Failed", tone: "bad" },
  [DeliveryStatus.CANCELLED]: { word: "Cancelled", tone: "neutral" },
};

export function DeliveryState({ of: { status } }: { of: Delivery }): React.ReactNode {
  const { word, tone } = deliveryStates[status] ?? unknownState;
  return <Badge tone={tone}>{word}</Badge>;
}

const errors: Record<DeliveryError, string> = {
  [DeliveryError.UNSPECIFIED]: "",
  [DeliveryError.TIMEOUT]: "No answer in time",
  [DeliveryError.CONNECTION_REFUSED]: "The connection was refused, reset or closed",
  [DeliveryError.DNS_ERROR]: "The host has no address",
  [DeliveryError.TLS_ERROR]: "The certificate or the TLS handshake is bad",
  [DeliveryError.ADDRESS_BLOCKED]: "The address is not one of the public internet",
  [DeliveryError.HTTP_STATUS]: "Answered, and not with 2xx",
  [DeliveryError.BODY_TOO_LARGE]: "The answer is over 64 KiB, or no HTTP",
};

/** What came of an attempt, such as "200" or "No answer in time". */
export function outcomeOf(status: number | undefined, error: DeliveryError): string {
  const isOther = error !== DeliveryError.UNSPECIFIED && error !== DeliveryError.HTTP_STATUS;
  return [status === undefined ? [] : `HTTP ${status}`, isOther || status === undefined ? errors[error] : []]
    .flat()
    .filter((words) => words !== "")
    .join(": ");
}

export const succeeded = ({ error }: Attempt): boolean => error === DeliveryError.UNSPECIFIED;

export const triggers: Record<DeliveryTrigger, string> = {
  [DeliveryTrigger.UNSPECIFIED]: "",
  [DeliveryTrigger.LIVE]: "It happened",
  [DeliveryTrigger.REPLAY]: "A replay",
  [DeliveryTrigger.MANUAL]: "Sent again by somebody",
  [DeliveryTrigger.TEST]: "A test",
};
