/**
 * Splits SQL into statements. Sent one by one, each can be forwarded by whatever stands between: an extension that
 * distributes tables forwards the text of one statement, and refuses several.
 */

// Runs of characters between escapes are matched at once, so that a text without an end is found in linear time.
const escaped = String.raw`'[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*'`;
const tokenPattern = new RegExp(
  [
    String.raw`(?<space>\s+|--[^\n]*)`,
    String.raw`(?<comment>/\*)`,
    String.raw`(?<dollars>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)`,
    // A string of this kind goes on after a line break, with the same rules.
    String.raw`(?<text>[eE]${escaped}(?:[^\S\n]*\n\s*${escaped})*|'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*")`,
    // None of the forms above matched, so the end is missing.
    String.raw`(?<endless>[eE]?'|")`,
    // A dollar within a word quotes nothing.
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<end>;)`,
    String.raw`(?<other>[\s\S])`,
  ].join("|"),
  "y",
);
const commentPattern = /\/\*|\*\//g;

/**
 * Splits at the semicolons that end statements. Statements keep their comments, and lose the semicolon.
 * @throws Error for a quote or comment without an end, and for BEGIN ATOMIC, whose semicolons end no statement.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let from = 0;
  let isEmpty = true;
  let wordBefore = "";
  const take = (to: number): void => {
    if (!isEmpty) statements.push(sql.slice(from, to).trim());
    isEmpty = true;
    wordBefore = "";
  };
  for (let at = 0; at < sql.length;) {
    tokenPattern.lastIndex = at;
    const groups = tokenPattern.exec(sql)?.groups ?? {};
    const start = at;
    at = tokenPattern.lastIndex;
    if (groups.comment !== undefined) at = endOfComment(sql, start);
    else if (groups.end !== undefined) {
      take(start);
      from = at;
    } else if (groups.space === undefined) {
      isEmpty = false;
      if (groups.dollars !== undefined) at = endOfDollars(sql, start, groups.dollars);
      if (groups.endless !== undefined) throw endless("a quoted text", sql, start);
      const word = groups.word?.toUpperCase() ?? "";
      if (wordBefore === "BEGIN" && word === "ATOMIC") {
        throw new Error(`${place(sql, start)}: BEGIN ATOMIC is not supported; write the body of a function in $$`);
      }
      wordBefore = word;
    }
  }
  take(sql.length);
  return statements;
}

function endOfDollars(sql: string, start: number, quote: string): number {
  const end = sql.indexOf(quote, start + quote.length);
  if (end === -1) throw endless(`a text in ${quote}`, sql, start);
  return end + quote.length;
}

/** Comments can be nested. */
function endOfComment(sql: string, start: number): number {
  commentPattern.lastIndex = start;
  let depth = 0;
  for (let found = commentPattern.exec(sql); found; found = commentPattern.exec(sql)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return commentPattern.lastIndex;
  }
  throw endless("a comment", sql, start);
}

function endless(what: string, sql: string, start: number): Error {
  return new Error(`${place(sql, start)}: ${what} has no end`);
}

function place(sql: string, at: number): string {
  return `line ${sql.slice(0, at).split("\n").length}`;
}
