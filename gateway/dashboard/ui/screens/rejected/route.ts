/** The route of Rejected writes, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { rangeText } from "../../data/range.ts";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const rejectedRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.rejected.path,
  staticData: { screen: screens.rejected },
  validateSearch: searchOf({
    show: oneOf("writes"),
    range: rangeText,
    severity: oneOf("error", "warning"),
    operation: text,
    code: text,
    param: text,
    type: text,
    key: text,
    request: idOf("req"),
    reference: text,
    group: text,
    write: idOf("rej"),
  }),
  component: lazyRouteComponent(() => import("./rejected-screen.tsx"), "RejectedScreen"),
});
