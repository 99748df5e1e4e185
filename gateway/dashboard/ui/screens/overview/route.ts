/** The route of the Overview. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { screens } from "../../screens.ts";

export const overviewRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.overview.path,
  staticData: { screen: screens.overview },
  component: lazyRouteComponent(() => import("./overview-screen.tsx"), "OverviewScreen"),
});
