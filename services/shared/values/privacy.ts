/** Limits of privacy requests. */

/** The most identifiers that a request names. */
export const identifiersPerRequestMax = 20;
/** The most characters of a reference. */
export const referenceLengthMax = 255;
/** The most characters of a regulation. */
export const regulationLengthMax = 64;
