/** What a screen is made of: a header, toolbars, sections, and lists of facts. */

/** The heading of a screen. `actions` stand at its end; `children` say in one sentence what the screen shows. */
export function PageHeader({
  title,
  actions,
  children,
}: {
  title: React.ReactNode;
  actions?: React.ReactNode;
  children?: React.ReactNode;
}): React.ReactNode {
  return (
    <header className="page-header">
      <div>
        <h1>{title}</h1>
        {children !== undefined && <div className="muted">{children}</div>}
      </div>
      {actions !== undefined && <div className="actions">{actions}</div>}
    </header>
  );
}

/** Filters and actions above a table. */
export function Toolbar({ label, children }: { label: string; children: React.ReactNode }): React.ReactNode {
  return (
    <div className="toolbar" role="group" aria-label={label}>
      {children}
    </div>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: React.ReactNode;
  children: React.ReactNode;
}): React.ReactNode {
  return (
    <section className="section" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** Names and values. Rows without a value, or with false, are left out. */
export function KeyValues({ rows }: { rows: Readonly<Record<string, React.ReactNode>> }): React.ReactNode {
  return (
    <dl className="key-values">
      {Object.entries(rows)
        .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export type Tone = "neutral" | "good" | "warning" | "bad" | "accent";

/** A state in a word. The word says it; the color only helps. */
export function Badge({ tone = "neutral", children }: { tone?: Tone; children: React.ReactNode }): React.ReactNode {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}

/** How far long work is. */
export function Progress({ label, done, total }: { label: string; done: number; total: number }): React.ReactNode {
  return (
    <div className="progress">
      <progress aria-label={label} value={done} max={Math.max(total, 1)} />
      <span className="muted">
        {done.toLocaleString()} of {total.toLocaleString()}
      </span>
    </div>
  );
}

/** A figure with a name, and what it is compared with. */
export function Figure({
  title,
  value,
  children,
}: {
  title: string;
  value: React.ReactNode;
  children?: React.ReactNode;
}): React.ReactNode {
  return (
    <div className="figure">
      <p className="figure-title">{title}</p>
      <p className="figure-value">{value}</p>
      {children}
    </div>
  );
}
