/** What each role may do. */
import { Icon } from "../../components/icon.tsx";
import { Section } from "../../components/page.tsx";
import { rights, type RoleName, roleWords } from "./rights.ts";

const columns = ["viewer", "developer", "support", "admin"] as const satisfies readonly RoleName[];

export function RoleTable(): React.ReactNode {
  return (
    <Section title="What roles may do">
      <dl className="key-values">
        {columns.map((role) => (
          <div key={role}>
            <dt>{role}</dt>
            <dd>{roleWords[role]}</dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>Each right</summary>
        <div className="scroll" tabIndex={0} role="region" aria-label="Each right">
          <table className="matrix">
            <thead>
              <tr>
                <th scope="col">Right</th>
                {columns.map((role) => (
                  <th key={role} scope="col">
                    {role}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rights.map(({ id, words, roles, isEverywhere }) => (
                <tr key={id}>
                  <th scope="row" title={id}>
                    {words}
                    {isEverywhere && <span className="help">Only with a role in all properties</span>}
                  </th>
                  {columns.map((role) => (
                    <td key={role}>{role === "admin" || roles.includes(role) ? <Yes /> : null}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </Section>
  );
}

function Yes(): React.ReactNode {
  return (
    <>
      <Icon name="check" />
      <span className="hidden">yes</span>
    </>
  );
}
