/** What a menu is made of: shared by its button and its popover, which is loaded later. */

export interface MenuEntry {
  id: string;
  title: string;
  /** Beside the title. */
  detail?: string;
  isCurrent?: boolean;
  isDangerous?: boolean;
}

export interface MenuProps {
  /** What the button is called. */
  label: string;
  /** What the button shows. */
  trigger: React.ReactNode;
  className?: string;
  items: readonly MenuEntry[];
  onAction: (id: string) => void;
}
