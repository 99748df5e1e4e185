/** One profile: who it is, what it did, and what was done with it. */
import { useQuery } from "@connectrpc/connect-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { type Profile, ProfileService, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { KeyValues, PageHeader, Section } from "../../components/page.tsx";
import { ScreenSkeleton } from "../../components/skeleton.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Count, Time } from "../../components/values.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";
import { attributesOf } from "./attributes.ts";
import { titleOf } from "./names.ts";
import { AttributesPanel } from "./attributes-panel.tsx";
import { Identifiers } from "./identifiers.tsx";
import { Place } from "./location.tsx";
import { MergeProfile } from "./merge-profile.tsx";
import { Merges } from "./merges.tsx";
import { shortId, StatusBadge } from "./person.tsx";
import { PrivacyMenu } from "./privacy-menu.tsx";
import { RedactProfile } from "./redact-profile.tsx";
import { useReveal } from "./reveal.ts";
import { Tags } from "./tags.tsx";
import { Timeline } from "./timeline.tsx";
import "../../styles/profiles.css";

const route = getRouteApi("/$property/profiles/$profile");

export function ProfilePage(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { profile: id } = route.useParams();
  const before = useRef(id);
  useEffect(() => {
    if (before.current === id) return;
    before.current = id;
    // From one profile to another, as between screens.
    document.querySelector<HTMLElement>("#screen")?.focus({ preventScroll: true });
  }, [id]);
  const isId = /^prof_[0-9a-z]{26}$/i.test(id);
  const read = useQuery(ProfileService.method.getProfiles, { propertyId, profileIds: [id] }, { enabled: isId });
  const profile = read.data?.profiles[0];
  if (profile) return <Loaded key={profile.id} profile={profile} />;
  if (isId && read.isPending) return <ScreenSkeleton />;
  return (
    <div className="screen">
      <PageHeader title="Profile" />
      {read.isError ? (
        <ErrorState error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <EmptyState title="There is no such profile in this property">
          <p>Check the id, and that the right property is chosen: each has profiles of its own.</p>
          <Link to="/$property/profiles" params={{ property: propertyId }} className="button">
            All profiles
          </Link>
        </EmptyState>
      )}
    </div>
  );
}

function Loaded({ profile }: { profile: Profile }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { show = "timeline", ask, other } = route.useSearch();
  const navigate = route.useNavigate();
  const reveal = useReveal(profile);
  const { attributesJson } = reveal.profile ?? profile;
  const attributeCount = useMemo(() => attributesOf(attributesJson).length, [attributesJson]);
  const isActive = profile.status === ProfileStatus.ACTIVE;
  const mayMerge = useMay("profiles:merge") && isActive;
  const mayRedact = useMay("profiles:redact") && isActive;
  const maySeeEvents = useMay("events:read");
  const set = (next: {
    show?: "attributes" | "merges" | undefined;
    ask?: "merge" | "redact" | undefined;
    other?: string | undefined;
  }): void => void navigate({ search: (was) => ({ ...was, ...next }), resetScroll: false });
  const isMerged = profile.status === ProfileStatus.MERGED;
  const tabs = [
    // Events of a merged profile are its survivor's.
    ...(maySeeEvents && !isMerged
      ? [{ id: "timeline" as const, title: "Timeline", content: <Timeline of={profile} /> }]
      : []),
    ...(isActive
      ? [
          {
            id: "attributes" as const,
            title: `Attributes (${attributeCount})`,
            content: <AttributesPanel of={profile} revealed={reveal.profile} />,
          },
        ]
      : []),
    { id: "merges" as const, title: "Merges", content: <Merges of={profile} /> },
  ];
  const current = tabs.some(({ id }) => id === show) ? show : (tabs[0]?.id ?? "merges");
  return (
    <div className="screen">
      <PageHeader
        title={<bdi>{headingOf(profile)}</bdi>}
        actions={
          <>
            <EqualsApiCall call={apiCalls.readProfile(profile.id)} />
            <PrivacyMenu of={profile} />
            {mayMerge && (
              <button type="button" className="button" onClick={() => set({ ask: "merge" })}>
                Merge …
              </button>
            )}
            {mayRedact && (
              <button type="button" className="button dangerous" onClick={() => set({ ask: "redact" })}>
                Redact …
              </button>
            )}
          </>
        }
      >
        <StatusBadge status={profile.status} /> <Copy text={profile.id} />
      </PageHeader>
      <Note of={profile} property={propertyId} />
      {!isMerged && (
        <div className="profile-facts">
          {isActive && <Identifiers of={profile} reveal={reveal} />}
          {isActive && (
            <div>
              <Tags of={profile} />
              <Place of={profile} />
            </div>
          )}
          <Facts of={profile} />
        </div>
      )}
      <Tabs
        label="Parts of the profile"
        tabs={tabs}
        current={current}
        onChange={(id) => set({ show: id === "timeline" ? undefined : id })}
      />
      {ask === "merge" && mayMerge && (
        <MergeProfile
          of={profile}
          otherId={other}
          onOther={(id) => set({ other: id })}
          onMerged={(survivor) =>
            void navigate({ params: { property: propertyId, profile: survivor }, search: { show: "merges" } })
          }
          onClose={() => set({ ask: undefined, other: undefined })}
        />
      )}
      {ask === "redact" && mayRedact && <RedactProfile of={profile} onClose={() => set({ ask: undefined })} />}
    </div>
  );
}

/** Whoever has neither a name nor an identifier is named by the id below. */
function headingOf(profile: Profile): string {
  const title = titleOf(profile);
  if (title !== profile.id) return title;
  if (profile.status === ProfileStatus.MERGED) return "Merged profile";
  return profile.status === ProfileStatus.REDACTED ? "Redacted profile" : "Profile";
}

/** Says what a profile that is not active is. */
function Note({ of: profile, property }: { of: Profile; property: string }): React.ReactNode {
  const survivor = profile.mergedInto;
  if (profile.status === ProfileStatus.REDACTED) {
    return (
      <p className="note">
        This profile was redacted <Time at={profile.updatedAt} focusable />. What it was known by is deleted for good,
        properties of its events too, within seconds. That its events happened stays.
      </p>
    );
  }
  if (profile.status !== ProfileStatus.MERGED || survivor === undefined) return null;
  return (
    <p className="note">
      This profile was merged into{" "}
      <Link to="/$property/profiles/$profile" params={{ property, profile: survivor }}>
        <code>{shortId(survivor)}</code>
      </Link>
      , which has its identifiers, attributes and events now.
    </p>
  );
}

function Facts({ of: profile }: { of: Profile }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const enabled = useMay("events:read");
  const last = useQuery(EventService.method.getLastEvents, { propertyId, profileIds: [profile.id] }, { enabled });
  const count = useQuery(EventService.method.countProfileEvents, { propertyId, profileId: profile.id }, { enabled });
  const lastAt = last.data?.lastEvents[0]?.occurredAt;
  return (
    <Section title="Facts">
      <KeyValues
        rows={{
          "Last event": lastAt ? <Time at={lastAt} focusable /> : last.isSuccess ? "Never" : "…",
          Events: count.data ? (
            <>
              <Count value={count.data.count} />
              {count.data.hasMore && " and more"}
            </>
          ) : (
            "…"
          ),
          Created: <Time at={profile.createdAt} focusable />,
          Updated: <Time at={profile.updatedAt} focusable />,
          Version: <Count value={profile.version} />,
          Reference: profile.profileRef !== undefined && <Copy text={profile.profileRef} />,
        }}
      />
    </Section>
  );
}
