/** Pages of lists that are read by position. */

/** The position of the first page: none. The types of connect-query know no list whose first page has none. */
export const fromStart = undefined as never;
