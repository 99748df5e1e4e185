/**
 * Search parameters of screens: text in the URL, checked values in the code. A value that is not valid is as if it were
 * absent, so that no link can break a screen. All fields are optional; a screen gives its defaults where it reads them.
 */

/** Reads a value; undefined when it is not valid. */
export type Reader<T> = (text: string) => T | undefined;

type Shape = Record<string, Reader<unknown>>;
type Values<S extends Shape> = { [Name in keyof S]?: S[Name] extends Reader<infer T> ? T : never };

/** A `validateSearch` of a route. */
export function searchOf<S extends Shape>(shape: S): (raw: Record<string, unknown>) => Values<S> {
  return (raw) => {
    const read = Object.entries(shape).flatMap(([name, reader]) => {
      const given = raw[name];
      const value = typeof given === "string" && given.length <= textMax ? reader(given) : undefined;
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(read) as Values<S>;
  };
}

const textMax = 6000;

export function oneOf<const T extends string>(...values: readonly T[]): Reader<T> {
  return (text) => values.find((value) => value === text);
}

/** Any text that is not empty. */
export const text: Reader<string> = (given) => (given.trim() === "" ? undefined : given);

/** An id with a prefix such as `key`. */
export function idOf(prefix: string): Reader<string> {
  const form = new RegExp(`^${prefix}_[0-9a-z]{26}$`);
  return (given) => (form.test(given) ? given : undefined);
}

/** `?a=b&c=d` as plain text: the router's own form would quote numbers. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(values: Record<string, unknown>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    typeof value === "string" && value !== "" ? [[name, value]] : [],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}
