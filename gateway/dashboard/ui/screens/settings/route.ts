/** The route of Settings, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { oneOf, searchOf } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const settingsRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.settings.path,
  staticData: { screen: screens.settings },
  validateSearch: searchOf({ create: oneOf("yes") }),
  component: lazyRouteComponent(() => import("./settings-screen.tsx"), "SettingsScreen"),
});
