/** The route of Events, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { rangeText } from "../../data/range.ts";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const eventsRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.events.path,
  staticData: { screen: screens.events },
  validateSearch: searchOf({
    type: text,
    profile: idOf("prof"),
    source: text,
    system: oneOf("show"),
    by: oneOf("received"),
    range: rangeText,
    order: oneOf("oldest"),
    live: oneOf("on"),
    event: idOf("evt"),
  }),
  component: lazyRouteComponent(() => import("./events-screen.tsx"), "EventsScreen"),
});
