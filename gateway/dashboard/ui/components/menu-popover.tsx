/** The menu of menu.tsx, open at first, with its button. */
import { Button, Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import type { MenuProps } from "./menu-props.ts";

export default function MenuPopover({
  label,
  trigger,
  className = "button",
  items,
  onAction,
}: MenuProps): React.ReactNode {
  return (
    <MenuTrigger defaultOpen>
      <Button className={className} aria-label={label}>
        {trigger}
      </Button>
      <Popover className="popover" placement="bottom start">
        <AriaMenu className="menu" aria-label={label} onAction={(key) => onAction(String(key))}>
          {items.map((item) => (
            <MenuItem
              key={item.id}
              id={item.id}
              textValue={item.title}
              className="menu-item"
              data-current={item.isCurrent}
              data-dangerous={item.isDangerous}
            >
              <span>{item.title}</span>
              {item.detail !== undefined && <span className="muted">{item.detail}</span>}
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
