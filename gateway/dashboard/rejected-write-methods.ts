/** The allow-list of RejectedWriteService. */
import { RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { methodsOf, reading, writing } from "./method.ts";

const right = "rejected_writes:read";

export const rejectedWriteMethods = methodsOf(RejectedWriteService, ({ clients }) => clients.rejectedWrites, {
  listRejectedWrites: reading(right),
  summarizeRejectedWrites: reading(right),
  getRejectedWrite: {
    ...reading(right),
    // What was sent may hold anything of a person. RevealRejectedWrite shows it, and leaves an audit entry.
    mask: ({ write }) => void delete write?.payload,
  },
  getRejectedWriteSettings: reading(right),
  // What is kept is a setting of the property, and turning it off deletes what was kept.
  updateRejectedWriteSettings: {
    ...writing("properties:manage"),
    fresh: true,
    audit: ({ propertyId }) => [propertyId],
  },
});
