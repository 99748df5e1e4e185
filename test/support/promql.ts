/** What an expression of Prometheus names, and what a process exposes. */
import { parser } from "@prometheus-io/lezer-promql";

/** The series that an expression selects, and the labels by which it groups. */
export interface Named {
  selectors: { metric: string; labels: string[] }[];
  grouping: string[];
  /** Whether the expression cannot be parsed. */
  isBroken: boolean;
}

export function namesOf(expression: string): Named {
  const named: Named = { selectors: [], grouping: [], isBroken: false };
  const isWithin = (node: { parent: { name: string } | null }, name: string): boolean => node.parent?.name === name;
  parser.parse(expression).iterate({
    enter({ name, from, to, node, type }) {
      const text = expression.slice(from, to);
      if (type.isError) named.isBroken = true;
      if (name === "Identifier") named.selectors.push({ metric: text, labels: [] });
      if (name === "LabelName" && isWithin(node, "UnquotedLabelMatcher")) named.selectors.at(-1)?.labels.push(text);
      if (name === "LabelName" && isWithin(node, "GroupingLabels")) named.grouping.push(text);
    },
  });
  return named;
}

/** Adds the metrics of an exposition, with the labels of their samples. */
export function readExposition(text: string, into: Map<string, Set<string>>): void {
  // A counter with labels has no sample until it counts.
  for (const [, name = ""] of text.matchAll(/^# TYPE (\S+) (?:counter|gauge)$/gm))
    into.set(name, into.get(name) ?? new Set());
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-z_][\w:]*)(?:\{(.*)\})? \S+$/gim)) {
    const known = into.get(name) ?? new Set();
    into.set(name, known);
    for (const [, label = ""] of labels.matchAll(/(?:^|,)([a-z_]\w*)="/gi)) known.add(label);
  }
}
