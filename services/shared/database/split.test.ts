import fc from "fast-check";
import { expect, test } from "vitest";
import { splitStatements } from "./split.ts";

/** Text in which semicolons end nothing. */
const quoted = fc.oneof(
  // Quotes, backslashes and signs of comments among other characters.
  fc.string({ unit: fc.constantFrom(";", "'", '"', "\\", "$", "-", "/", "*", "\n", "a", "é"), maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);
const withoutNul = quoted.map((text) => text.replaceAll("\0", ""));
const tag = fc.constantFrom("", "a", "body", "_1é");

const pieces = fc.oneof(
  withoutNul.map((text) => `'${text.replaceAll("'", "''")}'`),
  withoutNul.map((text) => `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`),
  withoutNul.map((text) => `e'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`),
  withoutNul.map((text) => `"${text.replaceAll('"', '""')}"`),
  fc.tuple(withoutNul, tag).map(([text, name]) => `$${name}$${text.replaceAll("$", "")}$${name}$`),
  withoutNul.map((text) => `-- ${text.replaceAll("\n", " ")}\n`),
  withoutNul.map((text) => `/* ${text.replaceAll(/[/*]/g, "")} /* ; */ ' */`),
  fc.constantFrom("SELECT", "a$b$c", "x1", "$1", "$2", "(", ")", ",", "::text", "1.5", "-", "/", "*", "e", "type"),
);
/** A statement begins with a word, so that it is none that only has comments. */
const statements = fc.array(pieces, { maxLength: 8 }).map((parts) => ["SELECT", ...parts].join(" "));

test("statements that are joined by semicolons come apart again", () => {
  fc.assert(
    fc.property(fc.array(statements, { maxLength: 6 }), (list) => {
      const trimmed = list.map((text) => text.trim());
      expect(splitStatements(list.join(";"))).toEqual(trimmed);
      expect(splitStatements(`${list.join(" ;\n ;")};`)).toEqual(trimmed);
    }),
    { numRuns: 2_000 },
  );
});

test("text without a statement has none", () => {
  for (const text of ["", ";", " ;; \n", "-- nothing;", "/* ; /* ; */ */;"]) expect(splitStatements(text)).toEqual([]);
});

test("strings with backslashes end where PostgreSQL ends them", () => {
  expect(splitStatements(String.raw`SELECT '\';SELECT 2`)).toEqual([String.raw`SELECT '\'`, "SELECT 2"]);
  expect(splitStatements(String.raw`SELECT E'\';';SELECT 2`)).toEqual([String.raw`SELECT E'\';'`, "SELECT 2"]);
  expect(splitStatements(String.raw`SELECT E'\\';SELECT 2`)).toEqual([String.raw`SELECT E'\\'`, "SELECT 2"]);
  const goingOn = "SELECT E'a'\n  '\\';'";
  expect(splitStatements(`${goingOn};SELECT 2`)).toEqual([goingOn, "SELECT 2"]);
  // The letter ends a word, so the string is a plain one.
  expect(splitStatements(String.raw`SELECT date'\';SELECT 2`)).toEqual([String.raw`SELECT date'\'`, "SELECT 2"]);
});

test("text that cannot be split is refused with its line", () => {
  const refusals: [string, string][] = [
    ["SELECT 1;\nSELECT 'a", "line 2: a quoted text has no end"],
    ['SELECT "a;', "line 1: a quoted text has no end"],
    [String.raw`SELECT E'\'`, "line 1: a quoted text has no end"],
    ["\n\nDO $a$ ; $b$", "line 3: a text in $a$ has no end"],
    ["/* /* */ ;", "line 1: a comment has no end"],
    ["CREATE FUNCTION f() RETURNS int BEGIN /* */ atomic SELECT 1; END", "line 1: BEGIN ATOMIC is not supported"],
  ];
  for (const [sql, message] of refusals) expect(() => splitStatements(sql)).toThrow(message);
  expect(splitStatements("BEGIN; SELECT atomic")).toEqual(["BEGIN", "SELECT atomic"]);
});

test("a large text without an end takes no longer than its size", () => {
  const startMs = performance.now();
  expect(() => splitStatements(`SELECT 'a${"''b".repeat(300_000)}`)).toThrow("has no end");
  expect(() => splitStatements(`SELECT E'a${"\\'b".repeat(300_000)}`)).toThrow("has no end");
  expect(performance.now() - startMs).toBeLessThan(5_000);
});
