/** A range of time: presets, or two instants of one's own. Its value is the text that the URL has: data/range.ts. */
import { lazy, Suspense, useState } from "react";
import { rangeTitle } from "../data/range.ts";
import type { DateRangeProps } from "./date-range-props.ts";
import { Icon } from "./icon.tsx";

const load = () => import("./date-range-popover.tsx");
const DateRangePopover = lazy(load);

export function DateRange(props: DateRangeProps): React.ReactNode {
  const [isWanted, setWanted] = useState(false);
  const range = rangeTitle(props.value);
  const title = props.label === undefined ? range : `${props.label}: ${range}`;
  const button = (
    <button
      type="button"
      className="button"
      aria-label={props.label === undefined ? `Range: ${title}` : title}
      aria-haspopup="dialog"
      aria-expanded="false"
      onPointerEnter={() => void load()}
      onFocus={() => void load()}
      onClick={() => setWanted(true)}
    >
      <Icon name="calendar" />
      {title}
      <Icon name="chevron" />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <DateRangePopover {...props} />
    </Suspense>
  ) : (
    button
  );
}
