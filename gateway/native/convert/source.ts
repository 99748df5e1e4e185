/** The source of everything that this surface writes. */
export const apiSource = "api";
