/** How endpoints get on. */
import { useQuery } from "@connectrpc/connect-query";
import { type EndpointHealth, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { formatCount } from "../../data/numbers.ts";
import { useProperty } from "../../data/viewer.ts";

const rereadMs = 10_000;
// While a replay is under way.
const replayRereadMs = 2_000;

/** By the id of the endpoint; undefined while it loads. */
export function useHealth(): ReadonlyMap<string, EndpointHealth> | undefined {
  const { id: propertyId } = useProperty();
  const { data } = useQuery(
    WebhookService.method.describeEndpoints,
    { propertyId },
    {
      refetchInterval: ({ state }) =>
        state.data?.endpoints.some(({ replay }) => replay !== undefined) ? replayRereadMs : rereadMs,
    },
  );
  return data && new Map(data.endpoints.map((health) => [health.endpointId, health]));
}

/** How many of the deliveries of a day got through, such as "99.8 %": rounded down, so that 100 % is all. */
export function SuccessRate({ of }: { of: EndpointHealth | undefined }): React.ReactNode {
  if (!of) return null;
  const total = of.delivered + of.failed;
  if (total === 0n) return <span className="muted">Nothing sent</span>;
  const permille = (of.delivered * 1000n) / total;
  const percent = permille % 10n === 0n ? String(permille / 10n) : `${permille / 10n}.${permille % 10n}`;
  return (
    <span title={`${formatCount(of.delivered)} of ${formatCount(total)} deliveries`}>
      <span className="number">{percent} %</span> <span className="muted">of {formatCount(total)}</span>
    </span>
  );
}
