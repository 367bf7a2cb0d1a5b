// Payload, content type and headers as fields. Another form of the payload keeps its bytes.
import { useState } from "preact/hooks";
import { Field, Select } from "../../parts/field";
import { inForm, type ContentDraft, type ContentProblems, type Form } from "../../text/content";

interface Props {
  of: ContentDraft;
  onInput: (draft: ContentDraft) => void;
  problems: ContentProblems;
}

export function ContentFields({ of, onInput, problems }: Props) {
  const [formProblem, setFormProblem] = useState("");
  const put = (changes: Partial<ContentDraft>) => {
    setFormProblem("");
    onInput({ ...of, ...changes });
  };

  function take(form: Form) {
    try {
      put(inForm(of, form));
    } catch (error) {
      setFormProblem((error as Error).message);
      onInput({ ...of }); // the choice shows the form that it stays in
    }
  }

  return (
    <>
      <Field id="content-payload" label="New payload" rows={8} value={of.payload}
        onInput={(payload) => put({ payload })} problem={formProblem || problems.payload} />
      <div class="fields">
        <Select id="content-form" label="Written as" value={of.form}
          onInput={(form) => take(form as Form)}
          choices={[["text", "text"], ["json", "JSON, checked"], ["hex", "hex"]]} />
        <Field id="content-type" label="New content type" value={of.contentType}
          onInput={(contentType) => put({ contentType })} problem={problems.contentType} />
      </div>
      <Field id="content-headers" label="New headers" rows={3} value={of.headers}
        onInput={(headers) => put({ headers })} problem={problems.headers}
        help="One per line, as name: value; or as an object in JSON" />
    </>
  );
}
