/** CSV (RFC 4180) from exact text. */

const isNumber = (text: string): boolean => /^-?\d+(?:\.\d+)?$/.test(text);
// What spreadsheets take for a formula, also behind spaces and in full width.
const isFormula = (text: string): boolean => /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(text);

/** Numbers stay as they are. Other text that a spreadsheet would run as a formula gets an apostrophe before it. */
function cell(text: string): string {
  const safe = isFormula(text) && !isNumber(text) ? `'${text}` : text;
  return /[",\r\n\t]/.test(safe) || safe.trim() !== safe ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The text of a file. It begins with a byte order mark: without one, Excel reads UTF-8 as another encoding. */
export function csvOf(rows: Iterable<readonly string[]>): string {
  return `\uFEFF${Array.from(rows, (row) => `${row.map(cell).join(",")}\r\n`).join("")}`;
}

/** Saves text as a file of the browser's downloads. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has begun to read it by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
