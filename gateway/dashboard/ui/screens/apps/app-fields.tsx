/** The fields of an app, and what is wrong with them. */
import { AppType } from "#proto/daybook/identity/v1/apps_pb.ts";
import { scopesInWords } from "../../../../oauth/scope-words.ts";
import { TextArea, TextField } from "../../components/field.tsx";
import type { Draft } from "./draft.ts";

const types = [
  {
    type: AppType.CONFIDENTIAL,
    title: "On a server",
    detail: "A confidential app: it keeps a secret, which nobody else sees.",
  },
  {
    type: AppType.PUBLIC,
    title: "At its users",
    detail: "A public app, such as one on a phone or in a browser: it has no secret.",
  },
] as const;

export function AppFields({
  draft,
  isNew,
  faultOf,
  onChange,
}: {
  draft: Draft;
  isNew: boolean;
  /** What is wrong with a field, or with one of its items. */
  faultOf: (field: string) => string | undefined;
  onChange: (draft: Draft) => void;
}): React.ReactNode {
  return (
    <>
      <TextField
        label="Name"
        help="Who is asked for consent sees it."
        required
        maxLength={255}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
        autoFocus
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        error={faultOf("name")}
      />
      <TextArea
        label="Description"
        help="What it does for a property, in a sentence or two."
        rows={2}
        maxLength={1000}
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
        error={faultOf("description")}
      />
      <TextField
        label="Homepage"
        type="url"
        placeholder="https://"
        maxLength={2048}
        autoComplete="off"
        value={draft.homepageUrl}
        onChange={(homepageUrl) => onChange({ ...draft, homepageUrl })}
        error={faultOf("homepage_url")}
      />
      {isNew && (
        <fieldset>
          <legend>Where it runs, for good</legend>
          {types.map(({ type, title, detail }) => (
            <label key={type} className="choice">
              <input
                type="radio"
                name="type"
                checked={draft.type === type}
                onChange={() => onChange({ ...draft, type })}
              />
              <span>
                <strong>{title}</strong>
                <span className="help">{detail}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <TextArea
        label="Redirect addresses"
        help={
          draft.type === AppType.PUBLIC
            ? "Where browsers are sent back to, one a line, at most 10: https, or http on 127.0.0.1, [::1] or localhost."
            : "Where browsers are sent back to, one a line, at most 10. They begin with https:// and are compared exactly."
        }
        required
        rows={3}
        spellCheck={false}
        autoComplete="off"
        className="input code"
        value={draft.redirectUris}
        onChange={(redirectUris) => onChange({ ...draft, redirectUris })}
        error={faultOf("redirect_uris")}
      />
      <TextField
        label="Webhook"
        help="Where messages about the properties are sent that it is installed in."
        type="url"
        placeholder="https://"
        maxLength={2048}
        autoComplete="off"
        value={draft.webhookUrl}
        onChange={(webhookUrl) => onChange({ ...draft, webhookUrl })}
        error={faultOf("webhook.url")}
      />
      {draft.webhookUrl.trim() !== "" && (
        <TextArea
          label="Types of messages"
          help="One a line, or * for all. An installation is sent those that its scopes allow."
          rows={2}
          spellCheck={false}
          autoComplete="off"
          className="input code"
          value={draft.webhookTypes}
          onChange={(webhookTypes) => onChange({ ...draft, webhookTypes })}
          error={faultOf("webhook.types")}
        />
      )}
      <Scopes chosen={draft.scopes} error={faultOf("scopes")} onChange={(scopes) => onChange({ ...draft, scopes })} />
    </>
  );
}

const groups = [
  { title: "Personal data", isPersonal: true },
  { title: "Other", isPersonal: false },
] as const;

function Scopes({
  chosen,
  error,
  onChange,
}: {
  chosen: ReadonlySet<string>;
  error: string | undefined;
  onChange: (chosen: ReadonlySet<string>) => void;
}): React.ReactNode {
  return (
    <fieldset aria-describedby={error === undefined ? undefined : "scopes-error"}>
      <legend>The most that it may ask for</legend>
      <p className="help">
        {chosen.size} chosen. An app that asks for more is refused, and one that asks for less gets less.
      </p>
      <div className="scopes">
        {groups.map(({ title, isPersonal }) => (
          <fieldset key={title}>
            <legend>{title}</legend>
            {scopesInWords
              .filter((each) => each.isPersonal === isPersonal)
              .map(({ scope, words }) => (
                <label key={scope} className="choice">
                  <input
                    type="checkbox"
                    checked={chosen.has(scope)}
                    onChange={(event) =>
                      onChange(
                        event.target.checked ? chosen.union(new Set([scope])) : chosen.difference(new Set([scope])),
                      )
                    }
                  />
                  <span>
                    {words}
                    <code className="help">{scope}</code>
                  </span>
                </label>
              ))}
          </fieldset>
        ))}
      </div>
      {error !== undefined && (
        <p id="scopes-error" className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
