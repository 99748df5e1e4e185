/** One privacy request: how far it is, what was found, and what can be done. */
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  type PrivacyCounts,
  type PrivacyRequest,
  PrivacyRequestStatus,
  PrivacyService,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { outwardCalls } from "../../outward-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { ProfileLink } from "../../components/events.tsx";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Count, Time, useNow } from "../../components/values.tsx";
import { dateOf } from "../../data/times.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { CancelRequest, DownloadExport, RetryRequest } from "./request-acts.tsx";
import { Due, isErasure, isPending, isUnderWay, RequestState, typeOf } from "./states.tsx";

const rereadMs = 2_000;
const profilesShown = 10;

export function RequestPanel({ requestId, onClose }: { requestId: string; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data, error, refetch } = useQuery(
    PrivacyService.method.getPrivacyRequest,
    { propertyId, privacyRequestId: requestId },
    {
      refetchInterval: ({ state }) => (state.data?.request && isUnderWay(state.data.request) ? rereadMs : false),
    },
  );
  const request = data?.request;
  return (
    <SidePanel title={request ? typeOf(request) : "Privacy request"} onClose={onClose}>
      {request ? (
        <Facts request={request} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </SidePanel>
  );
}

function Facts({ request }: { request: PrivacyRequest }): React.ReactNode {
  return (
    <>
      <Progress of={request} />
      <KeyValues
        rows={{
          State: <RequestState of={request} />,
          Due: <Due of={request} focusable />,
          Asked: <Time at={request.submittedAt} focusable />,
          Begins: isPending(request) && request.notBefore && <Time at={request.notBefore} focusable />,
          Ended: request.completedAt && <Time at={request.completedAt} focusable />,
          Law: request.regulation?.toUpperCase(),
          Reference: request.reference !== undefined && <Copy text={request.reference} />,
          Suppress: isErasure(request) && (request.suppress ? "Her identifiers are kept out from then on" : "No"),
          "Made by": <Copy text={request.createdBy} />,
          Created: <Time at={request.createdAt} focusable />,
          Id: <Copy text={request.id} />,
        }}
      />
      <Acts request={request} />
      <h3>The person</h3>
      <Person of={request} />
      {request.counts && (
        <>
          <h3>{isErasure(request) ? "What was found and erased" : "What was found"}</h3>
          <Counts of={request.counts} />
        </>
      )}
      {request.notReached.length > 0 && (
        <>
          <h3>What was not reached</h3>
          <ul className="consequences">
            {request.notReached.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** What goes on, in a sentence. */
function Progress({ of: request }: { of: PrivacyRequest }): React.ReactNode {
  const { status, failure, notBefore } = request;
  if (status === PrivacyRequestStatus.FAILED) {
    return (
      <p className="advice" data-tone="bad">
        It failed: {failure?.message ?? "the reason is not known."} Retry it, or tell your operator the id.
      </p>
    );
  }
  if (status === PrivacyRequestStatus.IN_PROGRESS) {
    return (
      <p className="help" role="status">
        {isErasure(request)
          ? "It is carried out. What is known of the person goes at once; it is completed after a last look, which takes some minutes."
          : "It is carried out: what is kept of the person is being counted."}
      </p>
    );
  }
  if (isPending(request) && notBefore) {
    return (
      <p className="help">
        It begins <Time at={notBefore} />, and can be cancelled until then.
      </p>
    );
  }
  return null;
}

function Acts({ request }: { request: PrivacyRequest }): React.ReactNode {
  const mayErase = useMay("privacy:delete");
  const mayExport = useMay("privacy:export");
  const now = useNow();
  const [asked, setAsked] = useState<"cancel" | "retry" | "download">();
  const done = (): void => setAsked(undefined);
  const { download } = request;
  const isThere = download?.expiresAt !== undefined && dateOf(download.expiresAt) > now;
  return (
    <>
      <div className="actions">
        {isThere && mayExport && (
          <button type="button" className="button primary" onClick={() => setAsked("download")}>
            Download …
          </button>
        )}
        {isPending(request) && (mayErase || mayExport) && (
          <button type="button" className="button" onClick={() => setAsked("cancel")}>
            Cancel …
          </button>
        )}
        {request.status === PrivacyRequestStatus.FAILED && mayErase && (
          <button type="button" className="button" onClick={() => setAsked("retry")}>
            Retry …
          </button>
        )}
        <EqualsApiCall call={outwardCalls.readPrivacyRequest(request.id)} />
      </div>
      {download && (
        <p className="help">
          {isThere ? (
            <>
              What was on record <Time at={download.asOf} />, <Count value={download.events} />{" "}
              {download.events === 1n ? "event" : "events"} among it. It can be downloaded until{" "}
              <Time at={download.expiresAt} absolute />.
            </>
          ) : (
            "It cannot be downloaded any more. Create another request."
          )}
        </p>
      )}
      {asked === "cancel" && <CancelRequest request={request} onClose={done} />}
      {asked === "retry" && <RetryRequest request={request} onClose={done} />}
      {asked === "download" && <DownloadExport request={request} onClose={done} />}
    </>
  );
}

function Person({ of: request }: { of: PrivacyRequest }): React.ReactNode {
  const { subjectIdentifiers, subjectProfileId, profileIds } = request;
  const shown = profileIds.slice(0, profilesShown);
  return (
    <KeyValues
      rows={{
        Profile: subjectProfileId !== undefined ? <ProfileLink id={subjectProfileId} whole /> : false,
        Identifiers: subjectIdentifiers.length > 0 && (
          <ul className="plain">
            {subjectIdentifiers.map(({ type, displayValue }, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- two can be masked alike, and their order is fixed
              <li key={index}>
                <span className="muted">{type}</span> <bdi>{displayValue}</bdi>
              </li>
            ))}
          </ul>
        ),
        Found: profileIds.length > 0 && (
          <ul className="plain">
            {shown.map((id) => (
              <li key={id}>
                <ProfileLink id={id} whole />
              </li>
            ))}
            {profileIds.length > shown.length && <li className="muted">and {profileIds.length - shown.length} more</li>}
          </ul>
        ),
      }}
    />
  );
}

const countNames = {
  profiles: "Profiles",
  identifiers: "Identifiers",
  events: "Events",
  anonymousEvents: "Anonymous events",
  webhookMessages: "Webhook bodies",
  rejectedWrites: "Refused writes",
  importErrors: "Import errors",
} as const;

function Counts({ of }: { of: PrivacyCounts }): React.ReactNode {
  const rows: Record<string, React.ReactNode> = {};
  for (const name of Object.keys(countNames) as (keyof typeof countNames)[]) {
    rows[countNames[name]] = <Count value={of[name]} />;
  }
  return <KeyValues rows={rows} />;
}
