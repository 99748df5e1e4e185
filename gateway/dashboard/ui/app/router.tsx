/** All routes of the dashboard. */
import { createRouter } from "@tanstack/react-router";
import { ScreenSkeleton } from "../components/skeleton.tsx";
import { parseSearch, stringifySearch } from "../data/search.ts";
import { accountRoute } from "../screens/account/route.ts";
import { appsRoute } from "../screens/apps/route.ts";
import { auditRoute } from "../screens/audit/route.ts";
import { eventsRoute } from "../screens/events/route.ts";
import { keysRoute } from "../screens/keys/route.ts";
import { membersRoute } from "../screens/members/route.ts";
import { operateRoute } from "../screens/operate/route.ts";
import { overviewRoute } from "../screens/overview/route.ts";
import { profileRoute, profilesRoute } from "../screens/profiles/route.ts";
import { privacyRoute } from "../screens/privacy/route.ts";
import { rejectedRoute } from "../screens/rejected/route.ts";
import { settingsRoute } from "../screens/settings/route.ts";
import { jobsRoute } from "../screens/jobs/route.ts";
import { metricRoute, metricsRoute } from "../screens/metrics/route.ts";
import { schemasRoute } from "../screens/schemas/route.ts";
import { webhooksRoute } from "../screens/webhooks/route.ts";
import { FailedScreen, MissingScreen } from "./failed-screen.tsx";
import { homeRoute, propertyRoute, rootRoute } from "./root-route.tsx";

const routeTree = rootRoute.addChildren([
  homeRoute,
  propertyRoute.addChildren([
    overviewRoute,
    eventsRoute,
    profilesRoute,
    profileRoute,
    keysRoute,
    appsRoute,
    webhooksRoute,
    rejectedRoute,
    privacyRoute,
    settingsRoute,
    membersRoute,
    auditRoute,
    operateRoute,
    metricsRoute,
    metricRoute,
    schemasRoute,
    jobsRoute,
    accountRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: "/dashboard",
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  defaultPendingComponent: ScreenSkeleton,
  defaultErrorComponent: FailedScreen,
  defaultNotFoundComponent: MissingScreen,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
