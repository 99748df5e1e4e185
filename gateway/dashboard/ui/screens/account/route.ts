/** The route of the Account. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { screens } from "../../screens.ts";

export const accountRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.account.path,
  staticData: { screen: screens.account },
  component: lazyRouteComponent(() => import("./account-screen.tsx"), "AccountScreen"),
});
