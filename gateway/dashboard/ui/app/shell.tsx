/** What every screen stands in: the property's bar, the navigation, and the place of the screen. */
import { Outlet, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { Icon } from "../components/icon.tsx";
import { isTest, useViewer } from "../data/viewer.ts";
import { InShell, MissingScreen } from "./failed-screen.tsx";
import { lastProperty } from "./last-property.ts";
import { Navigation } from "./navigation.tsx";
import { PropertySwitcher } from "./property-switcher.tsx";
import { overlay, useOverlay, useShellShortcuts } from "./shell-shortcuts.ts";
import { useScreenFocus } from "./screen-focus.ts";

const Palette = lazy(() => import("./palette.tsx"));
const Help = lazy(() => import("./help.tsx"));

export function Shell(): React.ReactNode {
  const { properties } = useViewer();
  const { property: id } = useParams({ from: "/$property" });
  const property = properties.find((known) => known.id === id);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const open = useOverlay();
  useShellShortcuts();
  useScreenFocus();
  useEffect(() => {
    if (property) lastProperty.write(property.id);
  }, [property]);

  if (!property) return <MissingScreen />;
  return (
    <div className="shell" data-mode={isTest(property) ? "test" : "live"}>
      <a className="skip-link" href="#screen">
        Skip to the content
      </a>
      <header className="head">
        {isTest(property) && (
          <div className="test-bar">
            <strong>TEST</strong>
            <span>Trial data, no real customers.</span>
          </div>
        )}
        <div className="top-bar">
          <button
            type="button"
            className="icon-button menu-button"
            aria-label="Navigation"
            aria-expanded={isMenuOpen}
            aria-controls="navigation"
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            <Icon name={isMenuOpen ? "close" : "menu"} />
          </button>
          <PropertySwitcher property={property} />
          <button type="button" className="search-button" onClick={() => overlay.open("palette")}>
            <Icon name="search" />
            <span>Go to or find …</span>
            <kbd>{isApple ? "⌘" : "Ctrl"} K</kbd>
          </button>
        </div>
      </header>
      <Navigation property={property} isOpen={isMenuOpen} onGo={() => setMenuOpen(false)} />
      <main id="screen" tabIndex={-1}>
        <InShell value={true}>
          <Outlet />
        </InShell>
      </main>
      <Suspense>
        {open === "palette" && <Palette onClose={overlay.close} />}
        {open === "help" && <Help onClose={overlay.close} />}
      </Suspense>
    </div>
  );
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
