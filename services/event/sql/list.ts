/** Lists of events, with keyset pagination. */
import { statement, type Queryable, type Statement } from "#shared/database/postgres.ts";
import type { Range, Instant } from "#shared/values/time.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { eventColumns, type EventRow } from "./events.ts";

/** The order of a list. */
export interface ListShape {
  sort: "occurred_at" | "received_at";
  ascending: boolean;
}

/** The conditions of a list; undefined means no condition. */
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
 * Reads one page. A statement has only the conditions that the list asks for, so that each form gets its own plan.
 * There are a few hundred forms, and none contains a caller's text. For several ids of profiles it reads a page of
 * each, by the index of profiles, and merges the pages.
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
    // Allows the index of the order, which is the wrong index for profiles.
    ...(values.profiles === undefined ? [`e.${sort} > '-infinity'`] : []),
    ...(values.type === undefined ? [] : [`e.type = ${add(values.type)}`]),
    ...(values.source === undefined ? [] : [`e.source = ${add(values.source)}`]),
    // Allows the index of the rarer sources.
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
