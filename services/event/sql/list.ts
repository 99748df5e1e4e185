/** Lists of events, by key and never by offset. */
import { statement, type Queryable, type Statement } from "#shared/database/postgres.ts";
import type { Range, Instant } from "#shared/values/time.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { eventColumns, type EventRow } from "./events.ts";

/** What a list is in order of. */
export interface ListShape {
  sort: "occurred_at" | "received_at";
  ascending: boolean;
}

/** The values of a list's conditions; undefined means no such condition. */
export interface ListValues {
  property: Uuid;
  profiles?: readonly Uuid[] | undefined;
  type?: string | undefined;
  source?: string | undefined;
  withoutSystem?: boolean | undefined;
  occurredAt: Range;
  receivedAt: Range;
  after?: { time: Instant; id: Uuid } | undefined;
  limit: number;
}

const statements = new Map<string, Statement<readonly unknown[], EventRow>>();

/**
 * Reads one page. A statement has only the conditions that the list asks for, so that each form gets a plan of its own. There are a few hundred
 * forms, made of nothing but the words here. For profiles each has a page of its own, from which that of the list is taken: their order is that
 * of an index.
 */
export function listEvents(database: Queryable, shape: ListShape, values: ListValues): Promise<EventRow[]> {
  const parameters: unknown[] = [values.property];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const { sort, ascending } = shape;
  const within = (column: ListShape["sort"], { from, before }: Range): string[] => [
    ...(from === undefined ? [] : [`e.${column} >= ${add(from)}`]),
    ...(before === undefined ? [] : [`e.${column} < ${add(before)}`]),
  ];
  const conditions = [
    "e.property_id = $1",
    // Lets the index of the order be used, which for profiles is the wrong one.
    ...(values.profiles === undefined ? [`e.${sort} > '-infinity'`] : []),
    ...(values.type === undefined ? [] : [`e.type = ${add(values.type)}`]),
    ...(values.source === undefined ? [] : [`e.source = ${add(values.source)}`]),
    // Lets the index of the rarer sources be used.
    ...(values.source === undefined || values.source === "api" ? [] : ["e.source <> 'api'"]),
    ...(values.withoutSystem ? ["e.source <> 'system'"] : []),
    ...within("occurred_at", values.occurredAt),
    ...within("received_at", values.receivedAt),
    ...(values.after === undefined
      ? []
      : [`(e.${sort}, e.id) ${ascending ? ">" : "<"} (${add(values.after.time)}, ${add(values.after.id)})`]),
  ];
  const direction = ascending ? "ASC" : "DESC";
  const page = (more: string[]): string =>
    `SELECT ${eventColumns} FROM event.events e WHERE ${[...conditions, ...more].join(" AND ")}
     ORDER BY e.${sort} ${direction}, e.id ${direction} LIMIT ${limit}`;
  const limit = add(values.limit);
  const text =
    values.profiles === undefined
      ? page([])
      : `SELECT e.* FROM unnest(${add(values.profiles)}::uuid[]) AS whose (profile)
         CROSS JOIN LATERAL (${page(["e.profile_id = whose.profile"])}) e
         ORDER BY e.${sort} ${direction}, e.id ${direction} LIMIT ${limit}`;
  const list = statements.get(text) ?? statement<readonly unknown[], EventRow>(`event.list.${statements.size}`, text);
  statements.set(text, list);
  return list(database, parameters);
}
