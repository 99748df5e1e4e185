/** A profile in a line of a list. */
import { Link } from "@tanstack/react-router";
import { type Profile, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Badge, type Tone } from "../../components/page.tsx";
import { nameOf, primaryFirst } from "./names.ts";

const shownMax = 2;

/** Leads to the profile. Its name is text of customers: it is isolated, so that it turns no other text around. */
export function PersonLink({ of: profile, property }: { of: Profile; property: string }): React.ReactNode {
  const name = nameOf(profile);
  return (
    <Link
      to="/$property/profiles/$profile"
      params={{ property, profile: profile.id }}
      className="row-open"
      title={profile.id}
    >
      {name === undefined ? <code>{shortId(profile.id)}</code> : <bdi>{name}</bdi>}
    </Link>
  );
}

/** prof_…x4k2ab: ids differ most at their end. */
export const shortId = (id: string): string => `${id.slice(0, id.indexOf("_") + 1)}…${id.slice(-6)}`;

export function IdentifiersInShort({ of: profile }: { of: Profile }): React.ReactNode {
  const all = primaryFirst(profile);
  if (all.length === 0) return null;
  return (
    <span className="identifiers-short">
      {all.slice(0, shownMax).map(({ id, type, value }) => (
        <span key={id}>
          <span className="muted">{type}</span> <bdi>{value}</bdi>
        </span>
      ))}
      {all.length > shownMax && <span className="muted">+{all.length - shownMax}</span>}
    </span>
  );
}

const statusBadges: Record<ProfileStatus, { word: string; tone: Tone }> = {
  [ProfileStatus.UNSPECIFIED]: { word: "Unknown", tone: "neutral" },
  [ProfileStatus.ACTIVE]: { word: "Active", tone: "good" },
  [ProfileStatus.MERGED]: { word: "Merged", tone: "warning" },
  [ProfileStatus.REDACTED]: { word: "Redacted", tone: "neutral" },
};

export function StatusBadge({ status }: { status: ProfileStatus }): React.ReactNode {
  // A status that is newer than this page is shown too.
  const { word, tone } = statusBadges[status] ?? { word: "Unknown", tone: "neutral" };
  return <Badge tone={tone}>{word}</Badge>;
}

export function TagList({ tags }: { tags: readonly string[] }): React.ReactNode {
  if (tags.length === 0) return null;
  return (
    <span className="tags-short">
      {tags.slice(0, shownMax).map((tag) => (
        <Badge key={tag}>
          <bdi>{tag}</bdi>
        </Badge>
      ))}
      {tags.length > shownMax && <span className="muted">+{tags.length - shownMax}</span>}
    </span>
  );
}
