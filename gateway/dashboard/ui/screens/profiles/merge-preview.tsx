/** What a merge would do: who stays, what moves, what is lost. */
import type { CountProfileEventsResponse } from "#proto/daybook/event/v1/event_pb.ts";
import type { PreviewMergeResponse, Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { useMemo } from "react";
import { Badge, KeyValues } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { attributesOf } from "./attributes.ts";
import { titleOf } from "./names.ts";
import { counted } from "./moved.ts";
import { IdentifiersInShort } from "./person.tsx";

const shownMax = 200;

interface Lost {
  name: string;
  kept: string;
  lost: string;
}

const columns: readonly Column<Lost>[] = [
  { id: "name", title: "Both have", cell: ({ name }) => <bdi>{name}</bdi> },
  { id: "kept", title: "Stays", cell: ({ kept }) => <Short json={kept} /> },
  { id: "lost", title: "Is lost", cell: ({ lost }) => <Short json={lost} isLost /> },
];

export function MergePreview({
  survivor,
  source,
  preview,
  events,
}: {
  survivor: Profile;
  source: Profile;
  preview: PreviewMergeResponse;
  events: CountProfileEventsResponse;
}): React.ReactNode {
  const { moved, demotedIdentifierIds, mergedIntoSource } = preview;
  const movedIds = new Set(moved?.identifierIds);
  const identifiers = source.identifiers.filter(({ id }) => movedIds.has(id));
  const lost = useMemo(() => lostIn(survivor, source, preview), [survivor, source, preview]);
  return (
    <>
      <div className="merge-sides">
        <Side title="Stays" of={survivor} />
        <Side title="Goes, and leads to the other from then on" of={source} />
      </div>
      <h3>What moves</h3>
      <KeyValues
        rows={{
          Events: `${counted(Number(events.count), "event")}${events.hasMore ? " and more" : ""}`,
          Identifiers:
            identifiers.length === 0 ? (
              "None"
            ) : (
              <ul className="plain">
                {identifiers.slice(0, shownMax).map(({ id, type, value }) => (
                  <li key={id}>
                    <span className="muted">{type}</span> <bdi>{value}</bdi>{" "}
                    {demotedIdentifierIds.includes(id) && <Badge tone="warning">not primary any more</Badge>}
                  </li>
                ))}
                {identifiers.length > shownMax && <li>and {identifiers.length - shownMax} more</li>}
              </ul>
            ),
          Attributes: <Names of={moved?.attributes ?? []} />,
          Tags: <Names of={moved?.tags ?? []} />,
          Location: <Names of={moved?.location ?? []} />,
          "Merged before": mergedIntoSource > 0 && counted(mergedIntoSource, "profile"),
        }}
      />
      <h3>What is lost</h3>
      {lost.length === 0 ? (
        <p className="muted">Nothing: no attribute and no field of the location has two values.</p>
      ) : (
        <Table
          label="What is lost"
          columns={columns}
          rows={lost.slice(0, shownMax)}
          keyOf={({ name }) => name}
          empty={null}
        />
      )}
      {lost.length > shownMax && <p>And {counted(lost.length - shownMax, "more value", "more values")}.</p>}
      <p>
        <strong>This cannot be undone.</strong> Daybook cannot part the two again. Reports count them as one person from
        then on.
      </p>
    </>
  );
}

function Side({ title, of: profile }: { title: string; of: Profile }): React.ReactNode {
  return (
    <section className="merge-side">
      <h3>{title}</h3>
      <p>
        <bdi>{titleOf(profile)}</bdi>
      </p>
      <IdentifiersInShort of={profile} />
      <code>{profile.id}</code>
    </section>
  );
}

function Names({ of: names }: { of: readonly string[] }): React.ReactNode {
  if (names.length === 0) return "None";
  return (
    <>
      {names.slice(0, shownMax).map((name, index) => (
        <span key={name}>
          {index > 0 && ", "}
          <bdi>{name}</bdi>
        </span>
      ))}
      {names.length > shownMax && ` and ${names.length - shownMax} more`}
    </>
  );
}

function lostIn(survivor: Profile, source: Profile, preview: PreviewMergeResponse): Lost[] {
  const [kept, lost] = [survivor, source].map(
    ({ attributesJson }) => new Map(attributesOf(attributesJson).map(({ name, json }) => [name, json])),
  );
  const hidden = "hidden";
  return [
    ...preview.conflictingAttributes.map((name) => ({
      name,
      kept: kept?.get(name) ?? hidden,
      lost: lost?.get(name) ?? hidden,
    })),
    ...preview.conflictingLocation.map((field) => ({
      name: `Location: ${field}`,
      kept: placeOf(survivor, field) ?? hidden,
      lost: placeOf(source, field) ?? hidden,
    })),
  ];
}

function placeOf({ location }: Profile, field: string): string | undefined {
  const { city, region, country, timezone, zip } = location ?? {};
  const known: Record<string, string | undefined> = { city, region, country, timezone, zip };
  return known[field];
}

const textMax = 120;

function Short({ json, isLost = false }: { json: string; isLost?: boolean }): React.ReactNode {
  const text = json.length > textMax ? `${json.slice(0, textMax)}…` : json;
  return <code>{isLost ? <del>{text}</del> : text}</code>;
}
