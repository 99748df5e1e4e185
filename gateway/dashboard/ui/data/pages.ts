/** Pages of lists: for `useInfiniteQuery` of connect-query. */

/** The position of the first page, which has none. The type of connect-query wants one. */
export const firstPage = undefined as never;
