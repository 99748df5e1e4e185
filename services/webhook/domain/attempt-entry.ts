/** One attempt, as the table keeps it. */
export interface AttemptEntry {
  /** An ISO 8601 date-time. */
  at: string;
  duration_ms: number;
  /** Of the answer. */
  status?: number | null;
  error?: string | null;
  /** The beginning of the answer; empty once the person was erased. */
  excerpt?: string | null;
}
