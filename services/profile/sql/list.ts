/** Lists of profiles, by key and never by offset. */
import { plannedStatement, statement, type Queryable, type Statement } from "#shared/postgres.ts";
import type { Range } from "#shared/time.ts";
import { profileColumns, type StoredProfileRow } from "./profiles.ts";

/** The form of a list: which conditions it has, and its order. */
export interface ListShape {
  /** Column that the list is in order of; ids decide between equals. */
  sort: "created_at" | "updated_at";
  ascending: boolean;
}

/** The values of a list's conditions; undefined means no such condition. */
export interface ListValues {
  property: string;
  status: string;
  id?: string | undefined;
  tag?: string | undefined;
  createdAt: Range;
  updatedAt: Range;
  after?: { time: string; id: string } | undefined;
  limit: number;
}

const statements = new Map<string, Statement<StoredProfileRow>>();

/**
 * Reads one page. A statement has only the conditions that the list asks for, so that each form gets a plan of its own: with all of them in
 * one, as `$n IS NULL OR …`, no index could be used. There are a few hundred forms, made of nothing but the words here.
 */
export function listProfiles(database: Queryable, shape: ListShape, values: ListValues): Promise<StoredProfileRow[]> {
  const parameters: unknown[] = [values.property, values.status];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const within = (column: ListShape["sort"], { from, before }: Range): string[] => [
    ...(from === undefined ? [] : [`p.${column} >= ${add(from)}`]),
    ...(before === undefined ? [] : [`p.${column} < ${add(before)}`]),
  ];
  const { sort, ascending } = shape;
  const conditions = [
    // The condition lets the index of the order be used, which for one id is the wrong one.
    values.id === undefined ? `p.${sort} > '-infinity'` : `p.id = ${add(values.id)}`,
    ...(values.tag === undefined ? [] : [`p.tags <> '{}' AND p.tags @> ARRAY[${add(values.tag)}::text]`]),
    ...within("created_at", values.createdAt),
    ...within("updated_at", values.updatedAt),
    ...(values.after === undefined
      ? []
      : [`(p.${sort}, p.id) ${ascending ? ">" : "<"} (${add(values.after.time)}, ${add(values.after.id)})`]),
  ];
  const direction = ascending ? "ASC" : "DESC";
  const limit = add(values.limit);
  const text = `SELECT ${profileColumns} FROM profile.profiles p
    WHERE ${["p.property_id = $1", "p.status = $2", ...conditions].join(" AND ")}
    ORDER BY p.${sort} ${direction}, p.id ${direction} LIMIT ${limit}`;
  // A tag may be on every profile or on hardly any: the one wants the index of the order, the other that of the tags.
  if (values.tag !== undefined) return plannedStatement<StoredProfileRow>(text)(database, parameters);
  const list = statements.get(text) ?? statement<StoredProfileRow>(`profile.list.${statements.size}`, text);
  statements.set(text, list);
  return list(database, parameters);
}
