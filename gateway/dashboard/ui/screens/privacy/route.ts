/** The route of Privacy, and its state in the URL. Identifiers are not in it. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const privacyRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.privacy.path,
  staticData: { screen: screens.privacy },
  validateSearch: searchOf({
    show: oneOf("suppressions"),
    type: oneOf("access", "erasure"),
    status: oneOf("open", "completed", "failed", "cancelled"),
    due: oneOf("overdue", "soon"),
    profile: idOf("prof"),
    reference: text,
    request: idOf("priv"),
    create: oneOf("access", "erasure"),
    of: idOf("prof"),
  }),
  component: lazyRouteComponent(() => import("./privacy-screen.tsx"), "PrivacyScreen"),
});
