/** Icons of 16 pixels, drawn by lines in the color of the text. Always beside words or in a labelled button. */

const paths = {
  overview: "M2.5 13.5v-5m3.7 5V5m3.6 8.5v-3m3.7 3v-11",
  events: "M2.5 4h11M2.5 8h11M2.5 12h7",
  profiles: "M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8Zm-5 5.7c.6-2.4 2.5-3.7 5-3.7s4.4 1.3 5 3.7",
  metrics: "M2 11.5l3.6-4 3 2.5L14 4m-3.5 0H14v3.5",
  schemas: "M3 3h4v4H3zM9 9h4v4H9zM7 5h4v4",
  rejected: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.8 5.8l4.4 4.4m0-4.4l-4.4 4.4",
  privacy: "M8 2l5 1.8v3.9c0 3-2 5.2-5 6.3-3-1.1-5-3.3-5-6.3V3.8zM6 8l1.5 1.5L10.3 6.6",
  webhooks:
    "M5.8 7.4a2.6 2.6 0 1 1 4.2-2l-2.2 4m2 2.3a2.5 2.5 0 1 0 1.4-2.5L8.9 5.6m-1.2 6H4.9M6 9.2a2.6 2.6 0 1 0 .3 4.1",
  jobs: "M8 2.5v7m0 0L5 6.8m3 2.7l3-2.7M2.5 11v2.5h11V11",
  keys: "M9.3 6.7a3.2 3.2 0 1 0-1.9 1.9l1 1h1.4V11h1.4v1.4h2v-1.9z",
  apps: "M2.5 2.5H7V7H2.5zM9 9h4.5v4.5H9zM2.5 9H7v4.5H2.5zM11.2 2.2v5M8.7 4.7h5",
  settings: "M2.5 5h6m3 0h2m-11 6h2m3 0h6M10 3.3v3.4M6 9.3v3.4",
  members:
    "M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4Zm-4 5.4c.4-2 1.9-3 4-3s3.6 1 4 3M10.7 3.4a2 2 0 0 1 0 3.9m1 2.7c1.3.4 2.1 1.3 2.4 2.9",
  audit: "M4 2.5h6l2.5 2.5v8.5H4zM6.3 7h4m-4 3h4",
  account:
    "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-6a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm-3.7 4c.8-1.5 2-2.2 3.7-2.2s2.9.7 3.7 2.2",
  operate: "M2 8h2.6L6.4 3.5l3 9L11.2 8H14",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  close: "M4 4l8 8m0-8l-8 8",
  check: "M3.5 8.5l3 3 6-7",
  copy: "M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z",
  chevron: "M5 6.5l3 3 3-3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.4-1.1l3.1 3.1",
  code: "M5.5 4.5L2 8l3.5 3.5m5-7L14 8l-3.5 3.5",
  alert: "M8 5.5v3.2m0 2v.1M8 2.2l6.3 11.3H1.7z",
  plus: "M8 3v10M3 8h10",
  calendar: "M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2v3m5-3v3",
  external: "M6 3H3v10h10v-3M9 2.5h4.5V7M13 3L7.5 8.5",
  pause: "M5.5 3v10m5-10v10",
  play: "M5 3l7.5 5L5 13z",
} as const;

export type IconName = keyof typeof paths;

export const isIcon = (name: string): name is IconName => Object.hasOwn(paths, name);

export function Icon({ name }: { name: IconName }): React.ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
