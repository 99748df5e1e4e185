/** The route of Apps, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const appsRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.apps.path,
  staticData: { screen: screens.apps },
  validateSearch: searchOf({
    in: oneOf("all"),
    show: oneOf("active", "ended", "all"),
    find: text,
    installation: idOf("inst"),
    app: idOf("app"),
    create: oneOf("yes"),
  }),
  component: lazyRouteComponent(() => import("./apps-screen.tsx"), "AppsScreen"),
});
