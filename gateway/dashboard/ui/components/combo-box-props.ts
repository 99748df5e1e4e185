/** What a combo box is made of: shared with its field, which is loaded later. */

export interface ComboBoxProps {
  label: string;
  value: string;
  options: readonly { value: string; title: string; detail?: string }[];
  placeholder?: string;
  allowsOther?: boolean;
  isLabelHidden?: boolean;
  onChange: (value: string) => void;
}
