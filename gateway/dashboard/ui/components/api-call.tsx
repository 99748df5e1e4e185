/** The calls of the public API that a screen equals, as curl. The calls stand in api-calls.ts; a test runs them. */
import { useState } from "react";
import { type ApiCall, curlOf } from "../api-calls.ts";
import { useViewer } from "../data/viewer.ts";
import { CopyButton } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";

/** A button that shows the call, or the calls, in a dialog. */
export function EqualsApiCall({ call }: { call: ApiCall | readonly ApiCall[] }): React.ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="code" />
        API
      </button>
      {isOpen && (
        <Dialog title="The same by the API" onClose={() => setOpen(false)}>
          {[call].flat().map((each) => (
            <Curl key={each.path} call={each} />
          ))}
          <p className="muted">
            <code>DAYBOOK_KEY</code> is a key of this property. <a href="/docs">API reference</a>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** The call itself, to copy. @param secret of a key that was just made; else the environment has it. */
export function Curl({ call, secret }: { call: ApiCall; secret?: string }): React.ReactNode {
  const { apiUrl } = useViewer();
  const curl = curlOf(call, apiUrl, secret);
  return (
    <figure className="code-block">
      <pre tabIndex={0} aria-label="curl">
        <code>{curl}</code>
      </pre>
      <CopyButton text={curl} />
    </figure>
  );
}
