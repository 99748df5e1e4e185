/** After a move to another screen: its title in the tab, and the focus in it, so that readers hear where they are. */
import { useMatches, useParams } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { titleOf, useViewer } from "../data/viewer.ts";

export function useScreenFocus(): void {
  const { properties } = useViewer();
  const match = useMatches({ select: (matches) => matches.at(-1) });
  const screen = match?.staticData.screen;
  const { property: propertyId } = useParams({ strict: false });
  const property = properties.find(({ id }) => id === propertyId);
  const place = `${propertyId}/${screen?.path}`;
  const before = useRef(place);

  useEffect(() => {
    document.title = [screen?.title, property && titleOf(property), "Daybook"].filter(Boolean).join(" · ");
  }, [screen, property]);

  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    // Neither on the first load nor after a change of parameters: only another screen takes the focus.
    document.querySelector<HTMLElement>("#screen")?.focus({ preventScroll: true });
  }, [place]);
}
