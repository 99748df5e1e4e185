/** The route of Schemas, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

const metricId = idOf("mtr");

export const schemasRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.schemas.path,
  staticData: { screen: screens.schemas },
  validateSearch: searchOf({
    find: text,
    show: oneOf("conflicts"),
    // `profile`, or the metric of an event type.
    of: (given) => (given === "profile" ? given : metricId(given)),
    path: text,
  }),
  component: lazyRouteComponent(() => import("./schemas-screen.tsx"), "SchemasScreen"),
});
