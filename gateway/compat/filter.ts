/**
 * Parses filters such as `equals(email,"a,b@example.com"),greater-than(created,2026-01-01)`. Conditions are joined by
 * commas, or by `and(…)`, and all must hold. Double-quoted values have JSON escapes, single-quoted ones only `\'` and
 * `\\`; lists are in brackets; dates and numbers are bare.
 */

export interface Condition {
  operator: string;
  field: string;
  /** Empty for `has(field)`; several for `any(field,[…])`. */
  values: string[];
  /** The value is unquoted and not in a list. */
  isBare?: true;
}

/** The message says why the filter is invalid. */
export class FilterError extends Error {}

const conditionsMax = 20;
const depthMax = 10;
const valuesMax = 500;

/** @throws FilterError */
export function parseFilter(text: string): Condition[] {
  const reader = new FilterReader(text);
  const conditions: Condition[] = [];
  reader.readAll(conditions, depthMax);
  reader.expectEnd();
  return conditions;
}

class FilterReader {
  readonly #text: string;
  #at = 0;
  #isBare = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads conditions joined by commas, also inside `and(…)`. @param depth levels of `and(…)` still allowed. */
  readAll(into: Condition[], depth: number): void {
    do {
      const operator = this.#match(/[a-z][a-z-]*/y, "an operator, such as equals");
      this.#expect("(");
      if (operator === "or" || operator === "not") {
        throw new FilterError(
          `${operator}(…) is not supported: conditions are joined by commas or and(…), and all must be fulfilled.`,
        );
      }
      if (operator === "and") {
        if (depth === 0) throw new FilterError(`and(…) is nested at most ${depthMax} levels deep.`);
        this.readAll(into, depth - 1);
        this.#expect(")");
      } else into.push(this.#readCondition(operator));
      if (into.length > conditionsMax) throw new FilterError(`There are at most ${conditionsMax} conditions.`);
    } while (this.take(","));
  }

  #readCondition(operator: string): Condition {
    // Names of dimensions may contain spaces, such as Campaign Name.
    const field = this.#match(/[^\s,()[\]"'](?:[^,()[\]"']*[^\s,()[\]"'])?/y, "the name of a field");
    this.#isBare = false;
    const values = this.take(",") ? this.#readValues(field) : [];
    this.#expect(")");
    return { operator, field, values, ...(this.#isBare ? { isBare: true } : {}) };
  }

  /** Consumes a character if it is the next one. */
  take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#wrong("a comma or the end");
  }

  #readValues(field: string): string[] {
    // A space before a bare phone number is a plus that URL decoding changed.
    const isSpaced = this.#text[this.#at] === " ";
    if (!this.take("[")) {
      this.#skipSpace();
      const first = this.#text[this.#at];
      this.#isBare = first !== '"' && first !== "'";
      const value = this.#readValue();
      return [this.#isBare && isSpaced && field === "phone_number" ? ` ${value}` : value];
    }
    const values: string[] = [];
    if (this.take("]")) return values;
    do {
      values.push(this.#readValue());
      if (values.length > valuesMax) throw new FilterError(`There are at most ${valuesMax} values in a list.`);
    } while (this.take(","));
    this.#expect("]");
    return values;
  }

  #readValue(): string {
    this.#skipSpace();
    const quote = this.#text[this.#at];
    if (quote === '"') {
      const literal = this.#match(/"(?:[^"\\]|\\.)*"/sy, "the end of a quoted value");
      try {
        return JSON.parse(literal) as string;
      } catch {
        throw new FilterError("A value in double quotes is written as in JSON.");
      }
    }
    if (quote === "'") {
      const literal = this.#match(/'(?:[^'\\]|\\.)*'/sy, "the end of a quoted value");
      return literal.slice(1, -1).replaceAll(/\\(['\\])/g, "$1");
    }
    return this.#match(/[^,()[\]"']+/y, "a value").trimEnd();
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === " ") this.#at++;
  }

  #expect(character: string): void {
    if (!this.take(character)) throw this.#wrong(`"${character}"`);
  }

  #match(pattern: RegExp, expected: string): string {
    this.#skipSpace();
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw this.#wrong(expected);
    this.#at += found.length;
    return found;
  }

  #wrong(expected: string): FilterError {
    return new FilterError(`The filter cannot be read: at character ${this.#at + 1} ${expected} is missing.`);
  }
}

/** Formats a condition so that parsing it gives the same condition. */
export function formatCondition({ operator, field, values }: Condition): string {
  const texts = values.map((value) => JSON.stringify(value));
  if (operator === "any") return `any(${field},[${texts.join(",")}])`;
  return `${operator}(${[field, ...texts].join(",")})`;
}
