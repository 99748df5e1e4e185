/** The name of a figure in Prometheus, and where the documentation says what to do. */
import { Copy } from "../../components/copy.tsx";
import { advice, figures } from "./figures.ts";

/** Beside the figures of a section: their names, to copy into a query. */
export function InPrometheus({ names }: { names: readonly (keyof typeof figures)[] }): React.ReactNode {
  return (
    <dl className="prometheus" aria-label="Names in Prometheus">
      {names.map((id) => (
        <div key={id}>
          <dt>{figures[id].title} in Prometheus</dt>
          <dd>
            <Copy text={figures[id].name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Says that something is wrong, and where the documentation says what to do. */
export function Advice({
  tone = "warning",
  see,
  children,
}: {
  tone?: "warning" | "bad";
  see: keyof typeof advice;
  children: React.ReactNode;
}): React.ReactNode {
  const { page, heading } = advice[see];
  return (
    <div className="advice" data-tone={tone}>
      <p>{children}</p>
      <p>
        See <cite>{heading}</cite> in <code>{page}</code>.
      </p>
    </div>
  );
}
