/** A code of an error, with a link to what the documentation says of it. */
import { Icon } from "../../components/icon.tsx";

export function CodeLink({ code }: { code: string }): React.ReactNode {
  return (
    <a href={`/docs/errors#${code}`} className="code-link" title={`What ${code} means`}>
      <code>{code}</code> <Icon name="external" />
    </a>
  );
}
