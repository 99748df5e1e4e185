/** Live or test, in a word. */
import { Mode, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Badge } from "../../components/page.tsx";

export function ModeBadge({ mode }: Pick<Property, "mode">): React.ReactNode {
  return mode === Mode.TEST ? <Badge tone="warning">Test</Badge> : <Badge tone="good">Live</Badge>;
}
