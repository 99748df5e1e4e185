/** Spans of statements, by name: never their values. */
import { SpanKind, trace } from "@opentelemetry/api";
import { inSpan } from "./spans.ts";

/** Runs a statement in a span of the active trace. What a process does by itself has no trace. */
export function statementInSpan<T>(query: { name?: string; text: string }, work: () => Promise<T>): Promise<T> {
  if (!trace.getActiveSpan()) return work();
  const name = query.name ?? summaryOf(query.text);
  const attributes = { "db.system.name": "postgresql", "db.query.summary": name };
  return inSpan(name, { kind: SpanKind.CLIENT, attributes }, work);
}

const summaryPattern = /\b(SELECT|INSERT|UPDATE|DELETE)\b[^]*?\b((?:identity|profile|event|metric)\.[a-z_]+)/;
const summaryCharsMax = 100;

/** The command and the first table of a statement without a name. Values are no part of a statement's text. */
function summaryOf(text: string): string {
  const [, command = "statement", table = ""] = summaryPattern.exec(text) ?? [];
  return `${command} ${table}`.trim().slice(0, summaryCharsMax);
}
