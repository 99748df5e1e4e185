/** /dashboard: goes on to the property that was open last, or to the first. */
import { Navigate } from "@tanstack/react-router";
import { EmptyState } from "../components/states.tsx";
import { useViewer } from "../data/viewer.ts";
import { lastProperty } from "./last-property.ts";

export function Home(): React.ReactNode {
  const { properties } = useViewer();
  const last = lastProperty.read();
  const property = properties.find(({ id }) => id === last) ?? properties[0];
  if (property) return <Navigate to="/$property/overview" params={{ property: property.id }} replace />;
  return (
    <main className="lone">
      <EmptyState title="No property is open to you">
        <p>A property is one store or site, live or test. Ask an admin for a role in one.</p>
        <p>
          An operator makes a property with <code>npm run daybook properties create</code>.
        </p>
      </EmptyState>
    </main>
  );
}
