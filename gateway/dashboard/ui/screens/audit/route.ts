/** The route of Audit, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const auditRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.audit.path,
  staticData: { screen: screens.audit },
  validateSearch: searchOf({ in: oneOf("all"), member: idOf("mem"), action: text, entry: idOf("aud") }),
  component: lazyRouteComponent(() => import("./audit-screen.tsx"), "AuditScreen"),
});
