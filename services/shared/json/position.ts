/** Positions of JSON errors. JSON.parse omits some, and quotes the text, which may be personal. */
import { visit, type ParseErrorCode } from "jsonc-parser";

/** Reasons by the codes of jsonc-parser, whose const enum has no names at run time. */
const reasons: Readonly<Record<number, string>> = {
  1: "an unexpected character",
  2: "a malformed number",
  3: "a field name in double quotes is expected",
  4: "a value is expected",
  5: "a colon is expected",
  6: "a comma is expected",
  7: "a closing brace is expected",
  8: "a closing bracket is expected",
  9: "the end of the body is expected",
  10: "comments are not allowed",
  11: "comments are not allowed",
  12: "a text has no closing quote",
  13: "a malformed number",
  14: "a malformed \\u escape",
  15: "a malformed escape",
  16: "a control character that is not escaped",
};

/** Ends the visit at the first error. */
class Found extends Error {
  readonly reason: string;
  readonly line: number;
  readonly column: number;

  constructor(code: ParseErrorCode, line: number, column: number) {
    super("the text is no JSON from here on");
    this.reason = reasons[code] ?? "an unexpected character";
    this.line = line + 1;
    this.column = column + 1;
  }
}

/** The end of a sentence: `a value is expected at line 1, column 9`; undefined when no error is found. */
export function explainJsonError(text: string): string | undefined {
  try {
    visit(
      text,
      {
        onError(code, _offset, _length, line, column) {
          throw new Found(code, line, column);
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    );
    return undefined;
  } catch (error) {
    if (error instanceof Found) return `${error.reason} at line ${error.line}, column ${error.column}`;
    throw error;
  }
}
