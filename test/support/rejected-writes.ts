/** Refused writes for tests: they are told to the event service once a second. */
import type { Api } from "./api.ts";
import { eventually } from "./processes.ts";

// The fields of answers, which tests read in every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Entry = any;

/** Waits until there are entries with the filters. @param query such as `filter[request_id]=req_…`. */
export function findRejected(api: Api, query: string, count = 1): Promise<Entry[]> {
  return eventually(
    async () => {
      const { body } = await api.get(`/v1/rejected-writes?${query}`);
      const entries = body.data as Entry[];
      return entries.length >= count ? entries : undefined;
    },
    { explain: () => `there are no ${count} rejected writes with ${query}` },
  );
}

/** Sends an event that is refused. @returns the id of its entry. */
export async function newRejectedWrite(api: Api): Promise<string> {
  const { body } = await api.post("/v1/events", { properties: {} });
  const [entry] = await findRejected(api, `filter[request_id]=${body.error.request_id}`);
  return entry.id as string;
}
