/** The routes of Profiles, the list and one profile, and their state in the URL. What is searched for is not in it. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { rangeText } from "../../data/range.ts";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const profilesRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.profiles.path,
  staticData: { screen: screens.profiles },
  validateSearch: searchOf({
    status: oneOf("merged", "redacted"),
    tag: text,
    created: rangeText,
    updated: rangeText,
    sort: oneOf("updated"),
    order: oneOf("oldest"),
  }),
  component: lazyRouteComponent(() => import("./profiles-screen.tsx"), "ProfilesScreen"),
});

export const profileRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: `${screens.profiles.path}/$profile`,
  // A place of its own, so that opening a profile moves the focus into it.
  staticData: { screen: { ...screens.profiles, path: `${screens.profiles.path}/$profile`, title: "Profile" } },
  validateSearch: searchOf({
    show: oneOf("attributes", "merges"),
    type: text,
    order: oneOf("oldest"),
    event: idOf("evt"),
    ask: oneOf("merge", "redact"),
    other: idOf("prof"),
  }),
  component: lazyRouteComponent(() => import("./profile-page.tsx"), "ProfilePage"),
});
