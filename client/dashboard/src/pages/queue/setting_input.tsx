// One setting as a field of the form.
import { Check, Field, Select } from "../../parts/field";
import type { SettingField } from "./setting_fields";

interface Props {
  of: SettingField;
  /** Tells fields of the same setting apart. */
  prefix?: string;
  value: string;
  onInput: (text: string) => void;
  isDisabled: boolean;
  problem: string | undefined;
}

export function SettingInput(props: Props) {
  const { of, prefix = "setting", value, onInput, isDisabled, problem } = props;
  const id = `${prefix}-${of.path.replace(".", "-")}`;
  if (of.kind === "choice") {
    return <Select id={id} label={of.label} value={value} choices={of.choices!}
      isDisabled={isDisabled} onInput={onInput} />;
  }
  if (of.kind === "check") {
    return <Check id={id} label={of.label} isOn={value === "yes"} isDisabled={isDisabled}
      onInput={(isOn) => onInput(isOn ? "yes" : "")} />;
  }
  return <Field id={id} label={of.label} value={value} onInput={onInput} help={of.help}
    isDisabled={isDisabled} problem={problem} />;
}
