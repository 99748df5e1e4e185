/** The route of Imports and jobs, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const jobsRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.jobs.path,
  staticData: { screen: screens.jobs },
  validateSearch: searchOf({
    of: oneOf("events"),
    state: oneOf("running", "complete"),
    job: idOf("job"),
  }),
  component: lazyRouteComponent(() => import("./jobs-screen.tsx"), "JobsScreen"),
});
