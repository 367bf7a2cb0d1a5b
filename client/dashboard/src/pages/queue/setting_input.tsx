// One setting as a field of the form.
import { Check, Field, Select } from "../../parts/field";
import type { SettingField } from "./setting_fields";

interface Props {
  of: SettingField;
  value: string;
  onInput: (text: string) => void;
  isDisabled: boolean;
  problem: string | undefined;
}

export function SettingInput({ of, value, onInput, isDisabled, problem }: Props) {
  const id = `setting-${of.path.replace(".", "-")}`;
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
