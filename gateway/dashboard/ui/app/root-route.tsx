/** /dashboard, and /dashboard/{property}: what every screen stands in. */
import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router";
import type { Screen } from "../screens.ts";
import { Home } from "./home.tsx";
import { FailedScreen, MissingScreen } from "./failed-screen.tsx";
import { Shell } from "./shell.tsx";

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    screen?: Screen;
  }
}

export const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: FailedScreen,
  notFoundComponent: MissingScreen,
});

export const homeRoute = createRoute({ getParentRoute: () => rootRoute, path: "/", component: Home });

/** The parent of every screen. */
export const propertyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "$property",
  component: Shell,
  errorComponent: FailedScreen,
  notFoundComponent: MissingScreen,
});
