/**
 * The SQL that runs on every spread of PostgreSQL, as services/shared/database/README.md describes it: finds what a
 * statement does outside of it. PostgreSQL's own parser reads the statements.
 */
import { parseSync } from "libpg-query";
import type pg from "pg";

/** What the rules need to know of the database. */
export interface Catalog {
  /** The tables that have property_id, such as `event.events`. */
  tables: ReadonlySet<string>;
  /** By name of a function: `i` immutable, `s` stable, `v` volatile; the least stable one of that name. */
  volatility: ReadonlyMap<string, string>;
}

/** @param tables the tables that have property_id. */
export async function readCatalog(client: pg.Client, tables: readonly string[]): Promise<Catalog> {
  const { rows } = await client.query<{ name: string; volatility: string }>(
    "SELECT proname AS name, max(provolatile) AS volatility FROM pg_proc GROUP BY proname",
  );
  return { tables: new Set(tables), volatility: new Map(rows.map((row) => [row.name, row.volatility])) };
}

export interface Faults {
  /** Constructs that Citus refuses, or gets wrong. */
  constructs: string[];
  /** Tables that are used without `property_id = $n`. */
  unscoped: string[];
}

type Node = Record<string, unknown>;

/** Finds the faults of a text. Call `loadModule` of libpg-query before. */
export function faultsOf(text: string, catalog: Catalog): Faults {
  const { stmts = [] } = parseSync(text);
  const found = new Set<string>();
  const scopes: Scope[] = [];
  if (stmts.length !== 1) found.add("several commands in one query");
  visit(stmts, (kind, node) => {
    if (kind === "CaseExpr" && node["arg"]) found.add("CASE x WHEN");
    if (kind === "UpdateStmt") for (const fault of faultsOfUpdate(node, catalog)) found.add(fault);
    if (kind === "InsertStmt") for (const fault of faultsOfInsert(node, catalog)) found.add(fault);
    if (isLevel(kind)) scopes.push(scopeOf(kind, node, catalog));
  });
  const unscoped = new Set(scopes.flatMap((scope) => scope.unscoped));
  for (const { unscoped: tables, locks, usesCtid } of scopes) {
    if (tables.length > 0 && locks) found.add("FOR UPDATE without property_id");
    if (tables.length > 0 && usesCtid) found.add("ctid without property_id");
  }
  if (unscoped.size > 0 && has(stmts, (kind, { recursive }) => kind === "withClause" && recursive === true))
    found.add("WITH RECURSIVE without property_id");
  if (new Set(scopes.flatMap(({ parameters }) => parameters)).size > 1) found.add("several properties");
  return { constructs: [...found], unscoped: [...unscoped] };
}

/** Finds what a migration after the first may not do, because the tables may be spread by then. */
export function migrationFaultsOf(text: string): string[] {
  const found = new Set<string>();
  visit(parseSync(text).stmts, (kind, node) => {
    if (kind === "AlterTableStmt" && list(node["cmds"]).length > 1) found.add("several changes in one ALTER TABLE");
    if (kind !== "AlterTableCmd") return;
    if (node["subtype"] === "AT_SetStorage") found.add("SET STORAGE");
    const { ColumnDef: column, Constraint: constraint } = (node["def"] ?? {}) as Record<string, Node | undefined>;
    const added = list(column?.["constraints"]).map((each) => (each["Constraint"] as Node)["contype"]);
    if (added.some((type) => !["CONSTR_NOTNULL", "CONSTR_NULL", "CONSTR_DEFAULT"].includes(type as string)))
      found.add("a constraint within ADD COLUMN");
    if (constraint && !constraint["conname"]) found.add("a constraint without a name");
  });
  return [...found];
}

function faultsOfUpdate(update: Node, { volatility }: Catalog): string[] {
  const found: string[] = [];
  const isUnstable = (kind: string, node: Node): boolean =>
    kind === "SQLValueFunction" || (kind === "FuncCall" && volatility.get(functionOf(node)) !== "i");
  visit(update, (kind, node) => {
    if (kind === "FuncCall" && (volatility.get(functionOf(node)) ?? "v") === "v")
      found.push(`VOLATILE function in UPDATE: ${functionOf(node)}`);
    if ((kind === "CaseExpr" || kind === "CoalesceExpr") && has(node, isUnstable))
      found.push("a function that is not IMMUTABLE in CASE or COALESCE of an UPDATE");
    // Comparisons are IMMUTABLE, so that a column may be compared with an instant.
    if (kind === "A_Expr" && !/^[<>=]+$/.test(nameOf(node["name"])) && has(node, isUnstable) && has(node, isColumn))
      found.push("a STABLE function calculates with a column in UPDATE");
  });
  if (has(update["targetList"], (kind) => kind === "A_Indices")) found.push("array subscript in SET");
  return found;
}

function faultsOfInsert(insert: Node, catalog: Catalog): string[] {
  const found: string[] = [];
  const select = (insert["selectStmt"] as Node | undefined)?.["SelectStmt"] as Node | undefined;
  const { onConflictClause } = insert;
  const returned = insert["returningClause"] ?? insert["returningList"];
  if (has(returned, (kind) => kind === "SubLink")) found.push("sub-select in RETURNING of an INSERT");
  if (select && !select["valuesLists"]) {
    if (has(onConflictClause, (kind) => kind === "ParamRef")) found.push("parameter in ON CONFLICT of INSERT … SELECT");
    if (!onConflictClause && !returned) found.push("INSERT … SELECT without RETURNING");
  }
  if (onConflictClause) found.push(...faultsOfUpdate(onConflictClause as Node, catalog));
  return found;
}

/** One level of a statement: a SELECT, UPDATE, DELETE or INSERT without those within it. */
interface Scope {
  unscoped: string[];
  /** The numbers of the parameters that property_id equals. */
  parameters: number[];
  locks: boolean;
  usesCtid: boolean;
}

const levels = new Set(["SelectStmt", "UpdateStmt", "DeleteStmt", "InsertStmt", "larg", "rarg"]);

function isLevel(kind: string): boolean {
  return levels.has(kind);
}

function scopeOf(kind: string, node: Node, catalog: Catalog): Scope {
  const tables: { name: string; alias: string }[] = [];
  const equalities: { alias: string | undefined; parameter: number }[] = [];
  const addTable = (range: Node): void => {
    const name = `${range["schemaname"] as string}.${range["relname"] as string}`;
    const { aliasname = range["relname"] } = (range["alias"] ?? {}) as Node;
    if (catalog.tables.has(name)) tables.push({ name, alias: aliasname as string });
  };
  const addConditions = (condition: unknown): void => {
    const { BoolExpr: bool, A_Expr: comparison } = (condition ?? {}) as Record<string, Node | undefined>;
    if (bool?.["boolop"] === "AND_EXPR") for (const each of list(bool["args"])) addConditions(each);
    if (comparison?.["kind"] !== "AEXPR_OP" || nameOf(comparison["name"]) !== "=") return;
    const parameter = parameterOf(comparison["rexpr"]) ?? parameterOf(comparison["lexpr"]);
    const column = columnOf(comparison["lexpr"]) ?? columnOf(comparison["rexpr"]);
    if (column?.at(-1) === "property_id" && parameter !== undefined)
      equalities.push({ alias: column.at(-2), parameter });
  };
  const addSource = (source: unknown): void => {
    const { RangeVar: range, JoinExpr: join } = (source ?? {}) as Record<string, Node | undefined>;
    if (range) addTable(range);
    if (!join) return;
    addSource(join["larg"]);
    addSource(join["rarg"]);
    addConditions(join["quals"]);
  };
  if (kind === "InsertStmt") {
    const relation = node["relation"] as Node;
    addTable(relation);
    for (const parameter of insertedProperties(node)) {
      if (parameter === undefined) return { ...empty, unscoped: tables.map(({ name }) => name) };
      equalities.push({ alias: undefined, parameter });
    }
  } else {
    if (node["relation"]) addTable(node["relation"] as Node);
    for (const source of [...list(node["fromClause"]), ...list(node["usingClause"])]) addSource(source);
    addConditions(node["whereClause"]);
  }
  const isScoped = ({ alias }: { alias: string }): boolean =>
    equalities.some((each) => each.alias === alias || (each.alias === undefined && tables.length === 1));
  const own = Object.entries(node).filter(([key]) => key !== "withClause");
  return {
    unscoped: tables.filter((table) => !isScoped(table)).map(({ name }) => name),
    parameters: tables.length > 0 ? equalities.map(({ parameter }) => parameter) : [],
    locks: list(node["lockingClause"]).length > 0,
    usesCtid: has(
      Object.fromEntries(own),
      (each, { fields }) => each === "ColumnRef" && nameOf(fields) === "ctid",
      isLevel,
    ),
  };
}

const empty: Scope = { unscoped: [], parameters: [], locks: false, usesCtid: false };

/** The parameters that an INSERT stores as property_id, one for each row of VALUES; undefined for anything else. */
function insertedProperties(insert: Node): (number | undefined)[] {
  const names = list(insert["cols"]).map((column) => (column["ResTarget"] as Node)["name"]);
  const at = names.indexOf("property_id");
  const select = (insert["selectStmt"] as Node)["SelectStmt"] as Node;
  if (select["valuesLists"])
    return list(select["valuesLists"]).map((row) => parameterOf(list((row["List"] as Node)["items"])[at]));
  return [parameterOf((list(select["targetList"])[at]?.["ResTarget"] as Node | undefined)?.["val"])];
}

/** Visits a node and everything in it. */
function visit(
  value: unknown,
  see: (kind: string, node: Node) => void,
  isEnd: (kind: string) => boolean = () => false,
): void {
  if (Array.isArray(value)) for (const each of value) visit(each, see, isEnd);
  else if (typeof value === "object" && value !== null) {
    for (const [kind, node] of Object.entries(value)) {
      if (typeof node !== "object" || node === null || isEnd(kind)) continue;
      if (!Array.isArray(node)) see(kind, node as Node);
      visit(node, see, isEnd);
    }
  }
}

function has(value: unknown, is: (kind: string, node: Node) => boolean, isEnd?: (kind: string) => boolean): boolean {
  let found = false;
  visit(value, (kind, node) => (found ||= is(kind, node)), isEnd);
  return found;
}

function list(value: unknown): Node[] {
  return (value ?? []) as Node[];
}

function isColumn(kind: string): boolean {
  return kind === "ColumnRef";
}

function parameterOf(value: unknown): number | undefined {
  const { ParamRef: parameter, TypeCast: cast } = (value ?? {}) as Record<string, Node | undefined>;
  return cast ? parameterOf(cast["arg"]) : (parameter?.["number"] as number | undefined);
}

function columnOf(value: unknown): string[] | undefined {
  const { ColumnRef: column } = (value ?? {}) as Record<string, Node | undefined>;
  return column && textsOf(column["fields"]);
}

function functionOf(call: Node): string {
  return nameOf(call["funcname"]);
}

/** The last part of a name that may be qualified. */
function nameOf(value: unknown): string {
  return textsOf(value).at(-1) ?? "";
}

function textsOf(value: unknown): string[] {
  return list(value).map(({ String: text }) => ((text as Node | undefined)?.["sval"] as string | undefined) ?? "");
}
