/** The route of Members, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const membersRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.members.path,
  staticData: { screen: screens.members },
  validateSearch: searchOf({ member: idOf("mem"), invite: oneOf("yes") }),
  component: lazyRouteComponent(() => import("./members-screen.tsx"), "MembersScreen"),
});
