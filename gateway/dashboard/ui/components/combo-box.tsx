/** One of many, found by typing. With `allowsOther` any text will do. React Aria's combo box is loaded where one is. */
import { lazy, Suspense } from "react";
import type { ComboBoxProps } from "./combo-box-props.ts";

const ComboBoxInput = lazy(() => import("./combo-box-input.tsx"));

export function ComboBox(props: ComboBoxProps): React.ReactNode {
  const { label, value, isLabelHidden = false } = props;
  const waiting = (
    <label className="field combo-box">
      <span className={isLabelHidden ? "hidden" : ""}>{label}</span>
      <input className="input" readOnly value={value} />
    </label>
  );
  return (
    <Suspense fallback={waiting}>
      <ComboBoxInput {...props} />
    </Suspense>
  );
}
