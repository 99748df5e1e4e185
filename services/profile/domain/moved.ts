/** What a survivor gets by a merge, as the record of the merge says it: names and ids, no values. */
export interface Moved {
  /** TypeIDs. */
  identifier_ids: string[];
  /** Keys. */
  attributes: string[];
  tags: string[];
  /** Fields. */
  location: string[];
}
