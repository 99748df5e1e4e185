/** The field of combo-box.tsx. */
import { useState } from "react";
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
  const titleOf = (key: string): string => options.find((option) => option.value === key)?.title ?? key;
  const title = titleOf(value);
  const [typed, setTyped] = useState(title);
  // The value can change elsewhere, such as by going back.
  const [before, setBefore] = useState(title);
  if (before !== title) {
    setBefore(title);
    setTyped(title);
  }
  return (
    <AriaComboBox
      className="field combo-box"
      allowsCustomValue={allowsOther}
      allowsEmptyCollection={false}
      menuTrigger="focus"
      inputValue={typed}
      selectedKey={options.some((option) => option.value === value) ? value : null}
      onInputChange={setTyped}
      onSelectionChange={(key) => {
        if (key !== null) {
          setTyped(titleOf(String(key)));
          onChange(String(key));
        }
      }}
      {...(allowsOther && { onBlur: () => onChange(typed) })}
    >
      <Label className={isLabelHidden ? "hidden" : ""}>{label}</Label>
      <div className="combo-box-input">
        <Input
          className="input"
          placeholder={placeholder ?? ""}
          onKeyDown={({ key, currentTarget }) => {
            // Enter takes what was typed, unless an option has the focus.
            const isOption = currentTarget.hasAttribute("aria-activedescendant");
            if (allowsOther && key === "Enter" && !isOption) onChange(typed);
          }}
        />
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
