/** The walls of the house: who may import whom, where SQL stands, and that nothing lies about unused or unsaid. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { beforeAll, expect, test } from "vitest";

interface SourceFile {
  path: string;
  text: string;
  /** Files of this project that it imports, from the root. */
  imports: string[];
  packages: string[];
}

const folders = ["services", "gateway", "deploy", "test", "bench", "scripts"];
let files: SourceFile[];

beforeAll(async () => {
  const found = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name)),
    ),
  );
  files = await Promise.all(found.flat().map(readSource));
});

async function readSource(path: string): Promise<SourceFile> {
  const text = await readFile(path, "utf8");
  const specifiers = [...text.matchAll(/(?<!["'`])\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    ([, specifier = ""]) => specifier,
  );
  const imports = specifiers.flatMap((specifier) => {
    if (specifier.startsWith("#proto/")) return [specifier.replace("#proto/", "proto/gen/")];
    if (specifier.startsWith("#shared/")) return [specifier.replace("#shared/", "services/shared/")];
    return specifier.startsWith(".") ? [relative(".", join(dirname(path), specifier))] : [];
  });
  return { path, text, imports, packages: specifiers.filter((specifier) => !/^[.#]/.test(specifier)) };
}

const isTest = ({ path }: SourceFile): boolean => path.endsWith(".test.ts") || path.startsWith("test/");

/** Imports by files of a folder that a rule does not allow. */
function offences(from: RegExp, allowed: RegExp): string[] {
  return files
    .filter((file) => from.test(file.path) && !isTest(file))
    .flatMap(({ path, imports }) => imports.filter((to) => !allowed.test(to)).map((to) => `${path} → ${to}`));
}

test("shared plumbing knows no service", () => {
  expect(offences(/^services\/shared\//, /^(services\/shared|proto\/gen)\//)).toEqual([]);
});

test.each(["identity", "profile", "event", "metric", "webhook"])(
  "the %s service imports no other and no gateway",
  (name) => {
    expect(offences(new RegExp(`^services/${name}/`), new RegExp(`^(services/(shared|${name})|proto/gen)/`))).toEqual(
      [],
    );
  },
);

test("the gateway holds clients, never services", () => {
  expect(offences(/^gateway\//, /^(gateway|services\/shared|proto\/gen)\//)).toEqual([]);
});

test("what runs in the browser imports nothing of the server, and the server nothing of it", () => {
  const ui = "gateway/dashboard/ui/";
  expect(files.filter(({ path }) => path.startsWith(ui)).length).toBeGreaterThan(40);
  // One table of data, which imports nothing, is for both.
  expect(
    offences(/^gateway\/dashboard\/ui\//, /^(gateway\/dashboard\/ui|proto\/gen)\/|^gateway\/oauth\/scope-words\.ts$/),
  ).toEqual([]);
  expect(offences(/^gateway\/oauth\/scope-words\.ts$/, /^$/)).toEqual([]);
  expect(offences(/^(?!gateway\/dashboard\/ui\/|scripts\/)/, /^(?!gateway\/dashboard\/ui\/)/)).toEqual([]);
});

test("native and compat never import each other", () => {
  expect(offences(/^gateway\/native\//, /^(?!gateway\/compat\/)/)).toEqual([]);
  expect(offences(/^gateway\/compat\//, /^(?!gateway\/native\/)/)).toEqual([]);
});

test("what only deploy and test may see is seen by nobody else", () => {
  expect(offences(/^(services|gateway)\//, /^(?!deploy\/|test\/|bench\/)/)).toEqual([]);
});

test("the domain does no input or output", () => {
  const domain = files.filter(({ path }) => /^services\/\w+\/domain\//.test(path));
  expect(domain.length).toBeGreaterThan(8);
  expect(
    offences(
      /^services\/(\w+\/domain\/|shared\/values\/)/,
      /\/domain\/|^proto\/gen\/|^services\/shared\/(values\/|json\/json\.ts$)/,
    ),
  ).toEqual([]);
  const packages = domain.filter((file) => !isTest(file)).flatMap(({ packages: used }) => used);
  expect(packages.filter((name) => name !== "node:crypto" && !name.startsWith("@bufbuild/"))).toEqual([]);
});

test("files import each other in one direction, types too", () => {
  const importsOf = new Map(files.map(({ path, imports }) => [path, imports]));
  const settled = new Set<string>();
  const circles: string[] = [];
  const walk = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path);
    if (at >= 0) circles.push([...way.slice(at), path].join(" → "));
    if (at >= 0 || settled.has(path)) return;
    for (const next of importsOf.get(path) ?? []) walk(next, [...way, path]);
    settled.add(path);
  };
  for (const path of importsOf.keys()) walk(path, []);
  expect(circles).toEqual([]);
});

test("SQL stands only in sql, in migrations, and in the plumbing that is about SQL", () => {
  const sql = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE)\s+[a-z_$*("'`]/;
  const mayHold =
    /\/sql\/|^services\/shared\/(database\/(check|migrate|postgres)|bus\/postgres-signals|(outbox|jobs|once)\/sql)\.ts$|^deploy\/local\/services-role\.ts$|^bench\/|^scripts\//;
  const offenders = files.filter((file) => !isTest(file) && sql.test(file.text) && !mayHold.test(file.path));
  expect(offenders.map(({ path }) => path)).toEqual([]);
});

test("Unicode is normalised only where the length is checked first", () => {
  // Anything may be in a name of its own, such as normalizeText.
  const users = files.filter((file) => !isTest(file) && /\.normalize\s*\(/.test(file.text));
  expect(users.map(({ path }) => path)).toEqual(["services/shared/values/text.ts"]);
});

test("a statement touches only the schema of its own service", () => {
  const names = ["identity", "profile", "event", "metric", "webhook"];
  const offenders = files.flatMap(({ path, text }) => {
    const owner = /^services\/(\w+)\/sql\//.exec(path)?.[1];
    if (owner === undefined) return [];
    const others = names.filter((name) => name !== owner).join("|");
    const found = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\\s+(${others})\\.`).exec(text);
    return found ? [`${path}: ${found[0]}`] : [];
  });
  expect(offenders).toEqual([]);
});

test("only its home in the bus knows NATS, and only who starts a process knows that home", () => {
  const users = files.filter(({ packages }) => packages.some((name) => name.startsWith("@nats-io/")));
  // Tests of who may enter, and of what a stranger sends, speak to the server themselves.
  const strangers = users.filter(({ path }) => !/^services\/shared\/bus\/nats\/|^test\//.test(path));
  expect(users.length).toBeGreaterThan(4);
  expect(strangers.map(({ path }) => path)).toEqual([]);
  const starters =
    /^services\/shared\/(bus\/nats\/|process\/service-process\.ts$)|^deploy\/local\/|^gateway\/main\.ts$/;
  const callers = files.filter(({ imports }) => imports.some((to) => to.startsWith("services/shared/bus/nats/")));
  expect(callers.filter((file) => !isTest(file) && !starters.test(file.path)).map(({ path }) => path)).toEqual([]);
});

test("tests draw at random only from the seed of the run", () => {
  const drawers = files.filter((file) => isTest(file) && /\bMath\.random\(|\brandomInt\(/.test(file.text));
  // The seed itself, and the ports of a worker, which nothing depends on.
  expect(drawers.map(({ path }) => path)).toEqual(["test/support/global-setup.ts", "test/support/processes.ts"]);
});

test("every file says what it is for, in words or by an only export with its name", () => {
  const silent = files.filter(({ path, text }) => {
    const says = /^(?:\/\*\*|\/\/)|\n\/\*\*/.test(text);
    const isOnePurpose = /\/(rpc|routes|consumers)\/|service\.ts$|\.test\.ts$/.test(path);
    return !says && !isOnePurpose;
  });
  expect(silent.map(({ path }) => path)).toEqual([]);
});

test("no comment is wider than 120 columns", () => {
  const wide = files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) =>
        line.length > 120 && /^\s*(?:\/\*|\*|\/\/)/.test(line) ? [`${path}:${index + 1}`] : [],
      ),
  );
  expect(wide).toEqual([]);
});

test("no file is longer than 300 lines", () => {
  // Tables of cases are as long as there are cases.
  const isTable = (path: string): boolean => /\.(?:test|cases)\.ts$/.test(path);
  const long = files.filter(({ path, text }) => !isTable(path) && text.trimEnd().split("\n").length > 300);
  expect(long.map(({ path }) => path)).toEqual([]);
});
