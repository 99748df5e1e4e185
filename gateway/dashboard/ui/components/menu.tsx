/** A button that opens a menu. */
import { Button, Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from "react-aria-components";

export interface MenuEntry {
  id: string;
  title: string;
  /** Beside the title. */
  detail?: string;
  isCurrent?: boolean;
  isDangerous?: boolean;
}

export function Menu({
  label,
  trigger,
  className = "button",
  items,
  onAction,
}: {
  /** What the button is called. */
  label: string;
  /** What the button shows. */
  trigger: React.ReactNode;
  className?: string;
  items: readonly MenuEntry[];
  onAction: (id: string) => void;
}): React.ReactNode {
  return (
    <MenuTrigger>
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
