/** The route of Keys, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const keysRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.keys.path,
  staticData: { screen: screens.keys },
  validateSearch: searchOf({
    show: oneOf("active", "ended", "all"),
    find: text,
    key: idOf("key"),
    create: oneOf("yes"),
  }),
  component: lazyRouteComponent(() => import("./keys-screen.tsx"), "KeysScreen"),
});
