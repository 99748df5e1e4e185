/** The route of Operate. It has no state: everything is in sight. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { screens } from "../../screens.ts";

export const operateRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.operate.path,
  staticData: { screen: screens.operate },
  component: lazyRouteComponent(() => import("./operate-screen.tsx"), "OperateScreen"),
});
