/** Settings: what a property is called, and what holds where a program says neither currency nor time zone. */
import { getRouteApi } from "@tanstack/react-router";
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { Icon } from "../../components/icon.tsx";
import { KeyValues, PageHeader, Section } from "../../components/page.tsx";
import { Time } from "../../components/values.tsx";
import { isTest, useMay, useMayEverywhere, useProperty } from "../../data/viewer.ts";
import "../../styles/team.css";
import { CreateProperty } from "./create-property.tsx";
import { EditProperty } from "./edit-property.tsx";
import { ModeBadge } from "./mode-badge.tsx";
import { Properties } from "./properties.tsx";

const route = getRouteApi("/$property/settings");

export function SettingsScreen(): React.ReactNode {
  const property = useProperty();
  const mayEdit = useMay("properties:manage");
  const mayCreate = useMayEverywhere("properties:manage");
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const setCreate = (next: "yes" | undefined): void => void navigate({ search: { create: next } });
  return (
    <div className="screen">
      <PageHeader title="Settings" actions={<EqualsApiCall call={apiCalls.account()} />}>
        A property is one store or site, in one mode: live or test.
      </PageHeader>
      <Section title="Property">
        <Facts property={property} isWhole={!mayEdit} />
        {mayEdit && (
          // For another property the form begins anew.
          <EditProperty key={property.id} property={property} />
        )}
        {!mayEdit && <p className="muted">An admin of this property changes its settings.</p>}
      </Section>
      <WhatTheyDo />
      {mayCreate && (
        <Section
          title="All properties"
          actions={
            <button type="button" className="button" onClick={() => setCreate("yes")}>
              <Icon name="plus" />
              Create a property
            </button>
          }
        >
          <Properties current={property.id} />
        </Section>
      )}
      {create === "yes" && mayCreate && <CreateProperty onClose={() => setCreate(undefined)} />}
    </div>
  );
}

function Facts({ property, isWhole }: { property: Property; isWhole: boolean }): React.ReactNode {
  return (
    <KeyValues
      rows={{
        ...(isWhole && {
          Name: property.name,
          "Default currency": property.defaultCurrency,
          "Time zone": property.timezone,
        }),
        Id: <Copy text={property.id} />,
        Mode: <ModeBadge mode={property.mode} />,
        Created: <Time at={property.createdAt} absolute />,
      }}
    />
  );
}

function WhatTheyDo(): React.ReactNode {
  const property = useProperty();
  return (
    <Section title="What the settings do">
      <ul className="bullets">
        <li>
          <strong>Default currency.</strong> A value that comes without a currency over the compatibility surface is
          taken for {property.defaultCurrency}, and where its metric queries find several currencies they show this one.
          What is stored keeps its currency.
        </li>
        <li>
          <strong>Time zone.</strong> A change counts nothing anew and changes no total. Metrics are counted by quarter
          of an hour, and each query puts them into days by the time zone that it names. The dashboard names this one,
          so its days and weeks begin at another instant, also those in the past. A metric query of the compatibility
          surface that names none goes on in UTC.
        </li>
        <li>
          <strong>Mode.</strong> It stays for good. {isTest(property) ? "Test" : "Live"} data and keys never mix with
          those of the other mode: create a property for that.
        </li>
      </ul>
    </Section>
  );
}
