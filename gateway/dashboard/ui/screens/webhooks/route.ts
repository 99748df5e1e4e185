/** The route of Webhooks, and its state in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { propertyRoute } from "../../app/root-route.tsx";
import { rangeText } from "../../data/range.ts";
import { idOf, oneOf, searchOf, text } from "../../data/search.ts";
import { screens } from "../../screens.ts";

export const webhooksRoute = createRoute({
  getParentRoute: () => propertyRoute,
  path: screens.webhooks.path,
  staticData: { screen: screens.webhooks },
  validateSearch: searchOf({
    show: oneOf("deliveries"),
    endpoint: idOf("hook"),
    delivery: idOf("dlv"),
    status: oneOf("pending", "delivered", "failed", "cancelled"),
    type: text,
    range: rangeText,
    create: oneOf("yes"),
  }),
  component: lazyRouteComponent(() => import("./webhooks-screen.tsx"), "WebhooksScreen"),
});
