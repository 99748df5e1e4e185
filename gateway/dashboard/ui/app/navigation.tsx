/** The navigation: the screens of the table that the viewer has a right to. */
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Link } from "@tanstack/react-router";
import { Icon, isIcon } from "../components/icon.tsx";
import { rightsIn, useViewer, type Viewer } from "../data/viewer.ts";
import { allScreens, type Screen } from "../screens.ts";

/** The screens that the viewer sees in a property. */
export function screensFor(viewer: Viewer, property: Property): readonly Screen[] {
  const rights = rightsIn(viewer, property.id);
  return allScreens.filter((screen) => screen.rights?.some((right) => rights.has(right)) ?? true);
}

export function Navigation({
  property,
  isOpen,
  onGo,
}: {
  property: Property;
  /** On a narrow screen. */ isOpen: boolean;
  onGo: () => void;
}): React.ReactNode {
  const viewer = useViewer();
  const groups = Map.groupBy(screensFor(viewer, property), ({ group }) => group);
  return (
    <nav id="navigation" className="navigation" data-open={isOpen} aria-label="Screens">
      {[...groups].map(([group, screens]) => (
        <section key={group} aria-labelledby={`navigation-${group}`}>
          <h2 id={`navigation-${group}`}>{group}</h2>
          <ul>
            {screens.map(({ path, title }) => (
              <li key={path}>
                <Link
                  // Screens are data here: their own links elsewhere are typed.
                  to={`/$property/${path}` as "/$property/overview"}
                  params={{ property: property.id }}
                  onClick={onGo}
                  activeOptions={{ includeSearch: false }}
                  activeProps={{ "aria-current": "page" }}
                >
                  <Icon name={isIcon(path) ? path : "events"} />
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p className="navigation-end">
        Daybook {viewer.version}
        <br />
        <a href="/docs" target="_blank" rel="noreferrer">
          API reference
        </a>
      </p>
    </nav>
  );
}
