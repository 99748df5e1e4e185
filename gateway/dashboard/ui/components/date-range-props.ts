/** What a range of time is made of: shared with its popover, which is loaded later. */

export interface DateRangeProps {
  value: string;
  onChange: (value: string) => void;
  /** Presets to offer. */
  only?: readonly string[];
  /** What the range is of, where a screen has several. */
  label?: string;
  /** There may be no range at all: then the value is empty. */
  allowsAny?: boolean;
}
