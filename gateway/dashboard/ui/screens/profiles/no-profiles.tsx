/** What stands in the place of an empty list of profiles. */
import { apiCalls } from "../../api-calls.ts";
import { Curl } from "../../components/api-call.tsx";
import { EmptyState } from "../../components/states.tsx";

const example = '{"identifiers":[{"type":"email","value":"ada@example.com"}],"attributes":{"first_name":"Ada"}}';

export default function NoProfiles({
  isFiltered,
  onClear,
}: {
  isFiltered: boolean;
  onClear: () => void;
}): React.ReactNode {
  if (isFiltered) {
    return (
      <EmptyState title="No profile is like that">
        <p>No profile of this property fulfils all conditions of the filter.</p>
        <button type="button" className="button" onClick={onClear}>
          Clear the filter
        </button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No profiles yet">
      <p>
        A profile is made by the first event with an email or a phone number, or by a program that writes it. To make
        one:
      </p>
      <Curl call={apiCalls.upsertProfile(example)} />
    </EmptyState>
  );
}
