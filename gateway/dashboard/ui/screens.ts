/**
 * The screens: one row each, in the order of the navigation. Routes, navigation, keyboard, palette and the tests that
 * open every screen read this table. It holds data only, so that tests can load it outside a browser.
 */

export interface Screen {
  /** Last part of the path: /dashboard/{property}/{path}. */
  path: string;
  /** In the navigation, the heading and the document's title. */
  title: string;
  /** `g`, then this letter, goes here. Unique. */
  letter: string;
  /** Under which heading of the navigation it stands. */
  group: "Data" | "Setup" | "Team";
  /** Only members with one of these rights in the property see it in the navigation. Absent: all. */
  rights?: readonly string[];
}

export const screens = {
  overview: { path: "overview", title: "Overview", letter: "o", group: "Data" },
  events: {
    path: "events",
    title: "Events",
    letter: "e",
    group: "Data",
    rights: ["events:read"],
  },
  profiles: {
    path: "profiles",
    title: "Profiles",
    letter: "p",
    group: "Data",
    rights: ["profiles:read"],
  },
  metrics: {
    path: "metrics",
    title: "Metrics",
    letter: "m",
    group: "Data",
    rights: ["metrics:read"],
  },
  schemas: {
    path: "schemas",
    title: "Schemas",
    letter: "h",
    group: "Data",
    rights: ["schemas:read"],
  },
  rejected: {
    path: "rejected",
    title: "Rejected writes",
    letter: "r",
    group: "Data",
    rights: ["rejected_writes:read"],
  },
  jobs: {
    path: "jobs",
    title: "Imports and jobs",
    letter: "j",
    group: "Data",
    rights: ["imports:read"],
  },
  privacy: {
    path: "privacy",
    title: "Privacy",
    letter: "v",
    group: "Data",
    rights: ["privacy:read"],
  },
  keys: {
    path: "keys",
    title: "Keys",
    letter: "k",
    group: "Setup",
    rights: ["keys:manage"],
  },
  apps: {
    path: "apps",
    title: "Apps",
    letter: "i",
    group: "Setup",
    rights: ["apps:manage"],
  },
  webhooks: {
    path: "webhooks",
    title: "Webhooks",
    letter: "w",
    group: "Setup",
    rights: ["webhooks:manage"],
  },
  settings: { path: "settings", title: "Settings", letter: "s", group: "Setup" },
  members: {
    path: "members",
    title: "Members",
    letter: "t",
    group: "Team",
    rights: ["members:manage"],
  },
  audit: {
    path: "audit",
    title: "Audit",
    letter: "a",
    group: "Team",
    rights: ["audit:read"],
  },
  operate: { path: "operate", title: "Operate", letter: "x", group: "Team", rights: ["operate"] },
  account: { path: "account", title: "Account", letter: "u", group: "Team" },
} as const satisfies Record<string, Screen>;

/** All rows, for those who go through them. */
export const allScreens: readonly Screen[] = Object.values(screens);
