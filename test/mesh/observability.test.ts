/** The dashboard and the alerts name only what running processes expose, and each alert says what to do. */
import { readFile } from "node:fs/promises";
import { Code } from "@connectrpc/connect";
import { beforeAll, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { connectToMesh } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";
import { namesOf, readExposition } from "../support/promql.ts";

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

let alerts: Alert[];
let expressions: string[];
/** The labels of each metric of all processes of the mesh. */
const exposed = new Map<string, Set<string>>();
// Prometheus adds these labels to all that it scrapes, and this metric for each process.
const targetLabels = ["job", "instance"];
const ownMetric = "up";

beforeAll(async () => {
  const rules = parse(await readFile("deploy/observability/alerts.yaml", "utf8")) as { groups: { rules: Alert[] }[] };
  alerts = rules.groups.flatMap((group) => group.rules);
  const dashboard = JSON.parse(await readFile("deploy/observability/grafana-dashboard.json", "utf8")) as {
    panels: Panel[];
  };
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  // Grafana fills in its variables.
  expressions = [...alerts.map(({ expr }) => expr), ...shown].map((text) => text.replaceAll("$__rate_interval", "5m"));

  const api = await connectToMesh().newProperty();
  await api.post("/v1/events", { type: "seen", identifier: { type: "card", value: "1" }, properties: {} });
  const { internalUrls } = inject("mesh");
  await eventually(
    async () => {
      for (const url of internalUrls) readExposition(await (await fetch(`${url}/metrics`)).text(), exposed);
      // These are read from NATS, and absent when it takes long to answer.
      return exposed.has("daybook_consumer_lag_messages") && exposed.has("daybook_outbox_rows") ? true : undefined;
    },
    { explain: () => "the processes expose no figures of NATS or of the outboxes" },
  );
  exposed.set(ownMetric, new Set());
});

test("every metric and label of the dashboard and the alerts is exposed by a process", () => {
  expect(alerts.length).toBeGreaterThan(10);
  expect(expressions.length).toBeGreaterThan(30);
  const missing = expressions.flatMap((expression) => {
    const { selectors, grouping, isBroken } = namesOf(expression);
    const labelsOf = (metric: string): string[] => [...(exposed.get(metric) ?? []), ...targetLabels];
    const all = new Set(selectors.flatMap(({ metric }) => labelsOf(metric)));
    return [
      ...(isBroken || selectors.length === 0 ? [`it cannot be parsed: ${expression}`] : []),
      ...selectors.flatMap(({ metric }) => (exposed.has(metric) ? [] : [`no metric ${metric}`])),
      ...selectors.flatMap(({ metric, labels }) =>
        labels.filter((label) => !labelsOf(metric).includes(label)).map((label) => `no label ${label} of ${metric}`),
      ),
      ...grouping.filter((label) => !all.has(label)).map((label) => `no label ${label} in ${expression}`),
    ];
  });
  expect(missing).toEqual([]);
});

test("every metric of Daybook stands in the dashboard", () => {
  const shown = new Set(expressions.flatMap((expression) => namesOf(expression).selectors.map(({ metric }) => metric)));
  const own = [...exposed.keys()].filter((name) => name.startsWith("daybook_") && !/_(?:sum|bucket)$/.test(name));
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter((name) => !shown.has(name))).toEqual([]);
});

test("every code of a call that an alert names is one that calls end with", () => {
  const codes = expressions.flatMap((expression) =>
    [...expression.matchAll(/code=~"([^"]+)"/g)].flatMap(([, list = ""]) => list.split("|")),
  );
  expect(codes).toContain("Unavailable");
  expect(codes.filter((code) => !(code in Code))).toEqual([]);
});

test("every alert has a severity, a summary, and a description that leads to what to do", async () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  for (const { alert, labels, annotations } of alerts) {
    expect([alert, ["critical", "warning"].includes(labels.severity)]).toEqual([alert, true]);
    expect([alert, annotations.summary.length > 20]).toEqual([alert, true]);
    const [, page = "", anchor = ""] = /(docs\/operating\/[\w-]+\.md)#([\w-]+)\.$/.exec(annotations.description) ?? [];
    expect([alert, page]).toEqual([alert, "docs/operating/failures.md"]);
    const headings = [...(await readFile(page, "utf8")).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(" ", "-"),
    );
    expect([alert, headings]).toEqual([alert, expect.arrayContaining([anchor])]);
  }
});

test("each way to run Prometheus gives all processes the job that the alerts go by", async () => {
  const read = async (path: string): Promise<unknown> => parse(await readFile(path, "utf8"));
  const docker = (await read("deploy/docker/prometheus.yaml")) as {
    scrape_configs: { job_name: string }[];
  };
  expect(docker.scrape_configs.map(({ job_name: name }) => name)).toEqual(["daybook"]);
  const monitor = (await read("deploy/kubernetes/components/podmonitor/podmonitor.yaml")) as {
    spec: { podMetricsEndpoints: { relabelings?: unknown[] }[] };
  };
  expect(monitor.spec.podMetricsEndpoints).toHaveLength(1);
  expect(monitor.spec.podMetricsEndpoints[0]?.relabelings).toContainEqual({
    targetLabel: "job",
    replacement: "daybook",
  });
  expect(expressions.join()).toContain('job="daybook"');
});
