/** Commands for writes that were refused. They show no bodies, which are for those who may see identifiers. */
import type { RejectedWrite, RejectedWriteGroup } from "#proto/daybook/event/v1/rejected_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import type { Command } from "../command.ts";

const entriesMax = 100;
const groupsMax = 100;

export const rejectedWriteCommands: readonly Command[] = [
  {
    name: "rejected-writes list",
    usage: "",
    summary: `the newest ${entriesMax} writes of a property that were refused, or those with a code`,
    words: [0, 0],
    options: ["property"],
    optional: ["code"],
    async run({ rejectedWrites }, { options: { property: propertyId, code } }) {
      const request = { propertyId, filter: { code }, limit: entriesMax };
      const { writes } = await rejectedWrites.listRejectedWrites(request);
      const shown = writes.map(showWrite);
      const lines = shown.map(({ id, rejected_at: at, operation, code: why, param, request_id: from, key_name: key }) =>
        [at, id, operation, why, param ?? "-", from, key].join("  "),
      );
      return { text: lines.join("\n"), json: shown };
    },
  },
  {
    name: "rejected-writes summary",
    usage: "",
    summary: "how many writes of a property were refused within 90 days, by what was wrong",
    words: [0, 0],
    options: ["property"],
    optional: ["code"],
    async run({ rejectedWrites }, { options: { property: propertyId, code } }) {
      const request = { propertyId, filter: { code }, limit: groupsMax };
      const { groups, count } = await rejectedWrites.summarizeRejectedWrites(request);
      const shown = groups.map(showGroup);
      const lines = shown.map(
        ({ count: some, operation, code: why, param, event_type: type, key_name: key, last_at }) =>
          [some, operation, why, param ?? "-", type ?? "-", key, last_at].join("  "),
      );
      return { text: [`${count} in all`, ...lines].join("\n"), json: { count: Number(count), groups: shown } };
    },
  },
];

function showWrite({ id, rejectedAt, operation, status, error, requestId, itemIndex, keyId, keyName }: RejectedWrite) {
  return {
    id,
    rejected_at: rejectedAt ? formatTimestamp(rejectedAt) : null,
    operation,
    status,
    code: error?.code ?? "",
    message: error?.message ?? "",
    param: error?.param ?? null,
    request_id: requestId,
    item_index: itemIndex ?? null,
    key_id: keyId,
    key_name: keyName,
  };
}

function showGroup({ operation, code, param, eventType, keyId, keyName, count, lastAt }: RejectedWriteGroup) {
  return {
    operation,
    code,
    param: param ?? null,
    event_type: eventType ?? null,
    key_id: keyId,
    key_name: keyName,
    count: Number(count),
    last_at: lastAt ? formatTimestamp(lastAt) : null,
  };
}
