/** Lists of profiles, with keyset pagination. */
import { plannedStatement, statement, type Queryable, type Statement } from "#shared/database/postgres.ts";
import type { Range } from "#shared/values/time.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { profileColumns, type StoredProfileRow } from "./profiles.ts";

/** The order of a list. */
export interface ListShape {
  /**
   * Ids break ties. `email` sorts by the primary or else the oldest email, and lists only profiles with one;
   * `without_email` lists all others, by id.
   */
  sort: "created_at" | "updated_at" | "id" | "email" | "without_email";
  ascending: boolean;
}

/** The conditions of a list; undefined means no condition. */
export interface ListValues {
  property: Uuid;
  status: string;
  ids?: readonly Uuid[] | undefined;
  tag?: string | undefined;
  createdAt: Range;
  updatedAt: Range;
  /** The list begins after this: a time and an id, an id, or an email, depending on the order. */
  after?: readonly string[] | undefined;
  limit: number;
}

const statements = new Map<string, Statement<readonly unknown[], StoredProfileRow>>();

const orderColumns: Record<ListShape["sort"], readonly string[]> = {
  created_at: ["p.created_at", "p.id"],
  updated_at: ["p.updated_at", "p.id"],
  id: ["p.id"],
  email: ["i.value"],
  without_email: ["p.id"],
};

const profileOf = (id: string): string =>
  `CROSS JOIN LATERAL (SELECT * FROM profile.profiles WHERE property_id = $1 AND id = ${id} LIMIT 1) p`;

/** The primary or else the oldest email of a profile. */
const emailOf = (profile: string, columns: string): string =>
  `SELECT ${columns} FROM profile.identifiers WHERE property_id = $1 AND profile_id = ${profile} AND type = 'email'
   ORDER BY is_primary DESC, id LIMIT 1`;

/**
 * Reads one page. A statement has only the conditions that the list asks for, so that each form gets its own plan: with
 * `$n IS NULL OR …` no index could be used. There are a few hundred forms, and none contains a caller's text.
 */
export function listProfiles(database: Queryable, shape: ListShape, values: ListValues): Promise<StoredProfileRow[]> {
  const parameters: unknown[] = [values.property, values.status];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const within = (column: string, { from, before }: Range): string[] => [
    ...(from === undefined ? [] : [`p.${column} >= ${add(from)}`]),
    ...(before === undefined ? [] : [`p.${column} < ${add(before)}`]),
  ];
  const { sort, ascending } = shape;
  const conditions = [
    "p.property_id = $1 AND p.status = $2",
    ...(values.tag === undefined ? [] : [`p.tags <> '{}' AND p.tags @> ARRAY[${add(values.tag)}::text]`]),
    ...within("created_at", values.createdAt),
    ...within("updated_at", values.updatedAt),
    ...(values.after === undefined
      ? []
      : [`(${orderColumns[sort].join(", ")}) ${ascending ? ">" : "<"} (${values.after.map(add).join(", ")})`]),
    // LIMIT keeps it one look-up per profile, because an anti-join could read all identifiers of all properties.
    ...(sort === "without_email" ? [`(${emailOf("p.id", "id")}) IS NULL`] : []),
  ];
  const direction = ascending ? "ASC" : "DESC";
  const from = (): string => {
    if (values.ids !== undefined) {
      const wanted = `unnest(${add(values.ids)}::uuid[]) AS wanted (id) ${profileOf("wanted.id")}`;
      return sort === "email" ? `${wanted} CROSS JOIN LATERAL (${emailOf("p.id", "value")}) i` : wanted;
    }
    if (sort === "email") {
      // In the order of the primary key. Skips an email that is not the one its profile is listed by.
      conditions.push(`i.property_id = $1 AND i.type = 'email' AND i.id = (${emailOf("i.profile_id", "id")})`);
      return `profile.identifiers i ${profileOf("i.profile_id")}`;
    }
    // Allows the index of the order.
    if (sort === "created_at" || sort === "updated_at") conditions.push(`p.${sort} > '-infinity'`);
    return "profile.profiles p";
  };
  const source = from();
  const text = `SELECT ${profileColumns} FROM ${source}
    WHERE ${conditions.join(" AND ")}
    ORDER BY ${orderColumns[sort].map((column) => `${column} ${direction}`).join(", ")} LIMIT ${add(values.limit)}`;
  // Planned for each call: a frequent tag needs the index of the order, a rare tag the index of tags.
  if (values.tag !== undefined)
    return plannedStatement<readonly unknown[], StoredProfileRow>(text)(database, parameters);
  const list =
    statements.get(text) ?? statement<readonly unknown[], StoredProfileRow>(`profile.list.${statements.size}`, text);
  statements.set(text, list);
  return list(database, parameters);
}
