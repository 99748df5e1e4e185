/** The routes of Metrics and of one metric, and their state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";
import { readMetricSearch } from "./metric-search.ts";

export const metricsRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.metrics.path,
  staticData: { screen: screens.metrics },
  validateSearch: searchOf({
    find: text,
    source: text,
    owner: oneOf("own", "platform"),
    create: oneOf("yes"),
  }),
  component: lazyRouteComponent(() => import("./metrics-screen.tsx"), "MetricsScreen"),
});

export const metricRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: `${screens.metrics.path}/$metric`,
  // A path of its own tells the shell that it is another screen.
  staticData: { screen: { ...screens.metrics, path: `${screens.metrics.path}/$metric`, title: "Metric" } },
  params: {
    parse: ({ metric }) => ({ metric: idOf("mtr")(metric) ?? "" }),
    stringify: ({ metric }) => ({ metric }),
  },
  validateSearch: readMetricSearch,
  component: lazyRouteComponent(() => import("./one-metric.tsx"), "MetricScreen"),
});
