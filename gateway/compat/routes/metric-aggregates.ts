import { newUuid } from "#shared/values/ids.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Cursors } from "../../cursor.ts";
import { datesOf, sortRows, toQuestion, toRows } from "../convert/aggregates.ts";
import { exampleAggregate } from "../examples.ts";
import { Faults } from "../faults.ts";
import { toCursor } from "../query.ts";
import { answerDocument } from "../reply.ts";
import { MetricAggregate } from "../resources.ts";
import { operation, route } from "../operation.ts";
import { MetricAggregateCreate } from "../schemas.ts";
import { pick } from "../sparse.ts";
import { createChecker } from "../validation.ts";

const rowsDefault = 500;

const aggregate = operation("metrics:read", {
  id: "compatAggregateMetric",
  summary: "Count the events of a metric over time",
  description:
    "Times in `filter` are of `timezone` unless they have an offset; `dates` are in UTC. `by` and `equals` take any " +
    "property of the events, and `$value_currency`. Sums never mix currencies: without `$value_currency` they are of " +
    "the only one there is, or of the property's default.",
  query: { fields: ["metric-aggregate"] },
  body: createChecker(MetricAggregateCreate, "metric-aggregate"),
  example: exampleAggregate,
  reads: true,
  data: MetricAggregate,
  success: { 200: "The answer" },
});

export const metricAggregateRoutes = [
  route("POST", "/metric-aggregates", aggregate, async (exchange) => {
    const { context, caller, reply, propertyId, services, query, links, body } = exchange;
    const { attributes } = body.data;
    const faults = new Faults();
    const question = toQuestion(propertyId, attributes, faults);
    faults.check();
    if (question.metricId === undefined) throw noSuchMetric();
    const ask = async (one: typeof question.summed) => one && services.metrics.aggregateMetric(one, toPointer);
    const answers = { unsummed: await ask(question.unsummed), summed: await ask(question.summed) };
    const rows = sortRows(toRows(answers, attributes, caller.defaultCurrency), attributes.sort, attributes.by ?? []);
    const scope = [propertyId, "compat", aggregate.id, JSON.stringify({ ...attributes, page_cursor: null })];
    const start = attributes.page_cursor ? Number(readPlace(context.cursors, scope, attributes.page_cursor)) : 0;
    const end = start + (attributes.page_size ?? rowsDefault);
    const data = {
      type: "metric-aggregate",
      id: newUuid(),
      attributes: { dates: datesOf(answers), data: rows.slice(start, end) },
      links: links.self(),
    };
    const cursor = end < rows.length ? context.cursors.write(scope, String(end)) : undefined;
    return answerDocument(reply, 200, { data: pick(data, query), links: links.page(cursor) });
  }),
];

function readPlace(cursors: Cursors, scope: readonly string[], cursor: string): string {
  try {
    return cursors.read(scope, toCursor(cursor));
  } catch (error) {
    if (error instanceof DaybookError) throw error.withParams(() => "/data/attributes/page_cursor");
    throw error;
  }
}

function toPointer(param: string): string {
  const [field = "", index] = param.split(".");
  const at = "/data/attributes";
  if (field === "metric_id" || field === "metric") return `${at}/metric_id`;
  if (field === "group_by") return index === undefined ? `${at}/by` : `${at}/by/${index}`;
  if (field === "timezone" || field === "interval") return `${at}/${field}`;
  return `${at}/filter`;
}

function noSuchMetric(): DaybookError {
  const param = "/data/attributes/metric_id";
  return new DaybookError("resource_not_found", "A metric with this id does not exist.", { param });
}
