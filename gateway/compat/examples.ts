/** Example bodies of writes. */
import { exampleIds } from "../docs/example-ids.ts";

const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };

export const exampleEventWrite = {
  data: {
    type: "event",
    attributes: {
      metric,
      profile: { data: { type: "profile", attributes: { email: "ada@example.com" } } },
      properties: { order_id: "1001", items: [{ sku: "TEA-250" }] },
      value: 49.9,
      value_currency: "EUR",
      unique_id: "order-1001",
    },
  },
};

export const exampleEventBulk = {
  data: {
    type: "event-bulk-create-job",
    attributes: {
      "events-bulk-create": {
        data: [
          {
            type: "event-bulk-create",
            attributes: {
              profile: { data: { type: "profile", attributes: { email: "ada@example.com", first_name: "Ada" } } },
              events: {
                data: [
                  { type: "event", attributes: { metric, properties: { order_id: "1002" }, value: 12 } },
                  {
                    type: "event",
                    attributes: { metric, properties: { order_id: "1003" }, time: "2026-11-01T09:30:00Z" },
                  },
                ],
              },
            },
          },
        ],
      },
    },
  },
};

export const exampleProfileWrite = {
  data: {
    type: "profile",
    attributes: {
      email: "lin@example.com",
      external_id: "customer-9",
      first_name: "Lin",
      location: { city: "Lisbon", country: "PT", address1: "Rua Augusta 1" },
      properties: { plan: "gold" },
    },
  },
};

export const exampleProfileUpdate = {
  data: {
    type: "profile",
    id: exampleIds.profile,
    attributes: { last_name: "Lovelace", properties: { plan: "platinum" } },
    meta: { patch_properties: { append: { interests: ["compilers"] }, unset: "obsolete" } },
  },
};

export const exampleMerge = {
  data: {
    type: "profile-merge",
    id: exampleIds.profile,
    relationships: { profiles: { data: [{ type: "profile", id: exampleIds.otherProfile }] } },
  },
};

export const exampleImport = {
  data: {
    type: "profile-bulk-import-job",
    attributes: {
      profiles: {
        data: [
          { type: "profile", attributes: { email: "ada@example.com", first_name: "Ada" } },
          { type: "profile", attributes: { phone_number: "+351 910 000 123", properties: { plan: "silver" } } },
        ],
      },
    },
  },
};

export const exampleAggregate = {
  data: {
    type: "metric-aggregate",
    attributes: {
      metric_id: exampleIds.metric,
      measurements: ["count", "sum_value", "unique"],
      interval: "day",
      timezone: "Europe/Lisbon",
      filter: ["greater-or-equal(datetime,2026-11-01T00:00:00)", "less-than(datetime,2026-11-08T00:00:00)"],
    },
  },
};

export const exampleDeletionJob = {
  data: {
    type: "data-privacy-deletion-job",
    attributes: { profile: { data: { type: "profile", attributes: { email: "leaving@example.com" } } } },
  },
};
