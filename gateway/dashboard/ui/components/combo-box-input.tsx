/** The field of combo-box.tsx. */
import { Button, ComboBox as AriaComboBox, Input, Label, ListBox, ListBoxItem, Popover } from "react-aria-components";
import type { ComboBoxProps } from "./combo-box-props.ts";
import { Icon } from "./icon.tsx";

export default function ComboBoxInput({
  label,
  value,
  options,
  placeholder,
  allowsOther = false,
  isLabelHidden = false,
  onChange,
}: ComboBoxProps): React.ReactNode {
  return (
    <AriaComboBox
      className="field combo-box"
      allowsCustomValue={allowsOther}
      allowsEmptyCollection={false}
      menuTrigger="focus"
      defaultInputValue={options.find((option) => option.value === value)?.title ?? value}
      selectedKey={options.some((option) => option.value === value) ? value : null}
      onSelectionChange={(key) => {
        if (key !== null) onChange(String(key));
      }}
      {...(allowsOther && {
        onBlur: (event: React.FocusEvent) => {
          if (event.target instanceof HTMLInputElement) onChange(event.target.value);
        },
      })}
    >
      <Label className={isLabelHidden ? "hidden" : ""}>{label}</Label>
      <div className="combo-box-input">
        <Input className="input" placeholder={placeholder ?? ""} />
        <Button className="icon-button" aria-label={`Show all: ${label}`}>
          <Icon name="chevron" />
        </Button>
      </div>
      <Popover className="popover">
        <ListBox className="menu" items={options.map((option) => ({ id: option.value, ...option }))}>
          {(option) => (
            <ListBoxItem id={option.value} textValue={option.title} className="menu-item">
              <span>{option.title}</span>
              {option.detail !== undefined && <span className="muted">{option.detail}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  );
}
