/** Where a thing stands that has an id: the palette goes there. A screen with ids adds a row. */
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";

type Destination = { to: string; params: { property: string; metric?: string }; search?: Record<string, string> };

interface Kind {
  prefix: string;
  title: string;
  to: (id: string, property: string) => Destination;
}

const kinds: readonly Kind[] = [
  {
    prefix: "evt",
    title: "Event",
    to: (id, property) => ({ to: "/$property/events", params: { property }, search: { event: id } }),
  },
  {
    prefix: "prof",
    title: "Profile",
    to: (id, property) => ({ to: `/$property/profiles/${id}`, params: { property } }),
  },
  {
    prefix: "job",
    title: "Import",
    to: (id, property) => ({ to: "/$property/jobs", params: { property }, search: { job: id } }),
  },
  {
    prefix: "mtr",
    title: "Metric",
    to: (id, property) => ({ to: "/$property/metrics/$metric", params: { property, metric: id } }),
  },
  {
    prefix: "key",
    title: "Key",
    to: (id, property) => ({ to: "/$property/keys", params: { property }, search: { key: id } }),
  },
  {
    prefix: "inst",
    title: "Installation",
    to: (id, property) => ({ to: "/$property/apps", params: { property }, search: { show: "all", installation: id } }),
  },
  {
    prefix: "app",
    title: "App",
    to: (id, property) => ({ to: "/$property/apps", params: { property }, search: { in: "all", app: id } }),
  },
  {
    prefix: "hook",
    title: "Webhook",
    to: (id, property) => ({ to: "/$property/webhooks", params: { property }, search: { endpoint: id } }),
  },
  {
    prefix: "dlv",
    title: "Delivery",
    to: (id, property) => ({
      to: "/$property/webhooks",
      params: { property },
      search: { show: "deliveries", delivery: id },
    }),
  },
  {
    prefix: "rej",
    title: "Rejected write",
    to: (id, property) => ({
      to: "/$property/rejected",
      params: { property },
      search: { show: "writes", write: id },
    }),
  },
  {
    prefix: "priv",
    title: "Privacy request",
    to: (id, property) => ({ to: "/$property/privacy", params: { property }, search: { request: id } }),
  },
  {
    prefix: "mem",
    title: "Member",
    to: (id, property) => ({ to: "/$property/members", params: { property }, search: { member: id } }),
  },
];

/** What an id is and where it stands; undefined for other text, and for properties that are not open to the viewer. */
export function goToId(
  text: string,
  properties: readonly Property[],
): { title: string; to: (property: string) => Destination } | undefined {
  const prefix = /^([a-z]+)_[0-9a-z]{26}$/.exec(text)?.[1];
  const property = properties.find(({ id }) => id === text);
  if (property) {
    return { title: property.name, to: () => ({ to: "/$property/overview", params: { property: property.id } }) };
  }
  const kind = kinds.find((known) => known.prefix === prefix);
  return kind && { title: kind.title, to: (current) => kind.to(text, current) };
}
