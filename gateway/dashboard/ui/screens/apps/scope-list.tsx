/** Scopes in words, personal data first. */
import { inWords } from "../../../../oauth/scope-words.ts";
import { Badge } from "../../components/page.tsx";

export function ScopeList({ scopes }: { scopes: readonly string[] }): React.ReactNode {
  return (
    <ul className="scope-words">
      {inWords(scopes).map(({ scope, words, isPersonal }) => (
        <li key={scope}>
          {words} {isPersonal && <PersonalData />}
          <code className="help">{scope}</code>
        </li>
      ))}
    </ul>
  );
}

/** For a row of a table: the first in words, and how many more there are. */
export function ScopesInShort({ scopes }: { scopes: readonly string[] }): React.ReactNode {
  const [first, ...others] = inWords(scopes);
  if (!first) return <span className="muted">Nothing</span>;
  return (
    <span className="scopes-short">
      {first.words}
      {others.length > 0 && `, and ${others.length} more`} {first.isPersonal && <PersonalData />}
    </span>
  );
}

function PersonalData(): React.ReactNode {
  return <Badge tone="warning">Personal data</Badge>;
}
