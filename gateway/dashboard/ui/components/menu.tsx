/** A button that opens a menu. React Aria's menu is loaded when the button is about to be used. */
import { lazy, Suspense, useState } from "react";
import type { MenuProps } from "./menu-props.ts";

const load = () => import("./menu-popover.tsx");
const MenuPopover = lazy(load);

export function Menu(props: MenuProps): React.ReactNode {
  const [isWanted, setWanted] = useState(false);
  const { label, trigger, className = "button" } = props;
  const button = (
    <button
      type="button"
      className={className}
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded="false"
      onPointerEnter={() => void load()}
      onFocus={() => void load()}
      onClick={() => setWanted(true)}
    >
      {trigger}
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <MenuPopover {...props} />
    </Suspense>
  ) : (
    button
  );
}
