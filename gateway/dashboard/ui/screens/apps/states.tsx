/** What apps and installations are now, in words. */
import {
  type App,
  AppStatus,
  AppType,
  type Installation,
  InstallationStatus,
  RevokedReason,
} from "#proto/daybook/identity/v1/apps_pb.ts";
import { Badge, type Tone } from "../../components/page.tsx";

export const isActive = ({ status }: Installation): boolean => status === InstallationStatus.ACTIVE;
export const isSuspended = ({ status }: App): boolean => status === AppStatus.SUSPENDED;
export const hasSecrets = ({ type }: App): boolean => type === AppType.CONFIDENTIAL;

interface Ending {
  words: string;
  tone: Tone;
  /** What it means, and what to do. */
  advice: string;
}

const again = "To have it back, start again at the partner.";

const unknown: Ending = { words: "ended", tone: "neutral", advice: again };

const endings: ReadonlyMap<RevokedReason, Ending> = new Map([
  [
    RevokedReason.UNINSTALLED,
    { words: "uninstalled", tone: "neutral", advice: `Somebody of this property uninstalled it. ${again}` },
  ],
  [
    RevokedReason.TOKEN_REUSE,
    {
      words: "a token was used twice",
      tone: "bad",
      advice:
        "A code or token of the app was used a second time, so somebody else may have it. Daybook ended all of its " +
        "tokens. Ask the partner what happened before it is installed again.",
    },
  ],
  [
    RevokedReason.APP,
    { words: "given up by the app", tone: "neutral", advice: `The app gave its access back. ${again}` },
  ],
  [
    RevokedReason.SUSPENDED,
    {
      words: "the app was suspended",
      tone: "warning",
      advice: "The app was suspended in all properties. When it is active again, it must be installed anew.",
    },
  ],
  [
    RevokedReason.OPERATOR,
    { words: "ended by an operator", tone: "warning", advice: `An operator of this Daybook ended it. ${again}` },
  ],
]);

/** Why one ended that has ended. */
export function endingOf({ revokedReason }: Installation): Ending {
  return endings.get(revokedReason) ?? unknown;
}

export function InstallationState({ of }: { of: Installation }): React.ReactNode {
  if (isActive(of)) return <Badge tone="good">Active</Badge>;
  const { words, tone } = endingOf(of);
  return (
    <span>
      <Badge tone={tone}>Ended</Badge> <span className="muted">{words}</span>
    </span>
  );
}

export function AppState({ of }: { of: App }): React.ReactNode {
  return isSuspended(of) ? <Badge tone="bad">Suspended</Badge> : <Badge tone="good">Active</Badge>;
}
