/** Which property is open, and the way to another: the same screen there. */
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { Icon } from "../components/icon.tsx";
import { Menu } from "../components/menu.tsx";
import { isTest, useViewer } from "../data/viewer.ts";
import { allScreens } from "../screens.ts";

export function PropertySwitcher({ property }: { property: Property }): React.ReactNode {
  const { properties } = useViewer();
  const navigate = useNavigate();
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  // Ids in the search parameters belong to this property: only the screen goes along.
  const path = allScreens.find((screen) => pathname.endsWith(`/${screen.path}`))?.path ?? "overview";
  const goTo = (id: string): void => {
    void navigate({ to: `/$property/${path}` as "/$property/overview", params: { property: id } });
  };
  return (
    <Menu
      label={`Property: ${property.name}, ${isTest(property) ? "test" : "live"}`}
      className="property-switcher"
      trigger={
        <>
          <span className="mode-mark" aria-hidden="true" />
          <span className="property-name">{property.name}</span>
          <Icon name="chevron" />
        </>
      }
      items={properties.map((other) => ({
        id: other.id,
        title: other.name,
        detail: isTest(other) ? "Test" : "Live",
        isCurrent: other.id === property.id,
      }))}
      onAction={goTo}
    />
  );
}
