/** Empties what jobs keep of a person: refused items, and items that are still to do. */
import { create, fromBinary, toBinary, type Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { forLargeTexts } from "../database/large-texts.ts";
import { withTransaction, type Database, type Queryable } from "../database/postgres.ts";
import { Steps } from "../scheduling/steps.ts";
import type { Names } from "../values/names.ts";
import { personFinder } from "../values/persons.ts";
import type { Uuid } from "../values/ids.ts";
import { nilUuid } from "../values/ids.ts";
import type { JobErrorStatements, JobStatements } from "./sql.ts";

const errorRowsMax = 1_000;

/** Empties refused items that name a person. Their errors keep the code; the message may quote what was sent. */
export async function emptyErrorsNaming(
  database: Queryable,
  statements: JobErrorStatements,
  property: Uuid,
  names: Names,
): Promise<void> {
  await forErrorsNaming(database, statements, property, names, async (found) => {
    const items = found.map((row) => ({ ...row, error: withoutMessage(row.error) }));
    await statements.emptyItems(database, [property, items]);
  });
}

function withoutMessage(error: Buffer): Uint8Array {
  const { code } = fromBinary(ErrorSchema, error);
  const message = "The item was refused. What it said is erased, because it named a person who was erased.";
  return toBinary(ErrorSchema, create(ErrorSchema, { code, message }));
}

/** Counts refused items that name a person. */
export async function countErrorsNaming(
  database: Queryable,
  statements: JobErrorStatements,
  property: Uuid,
  names: Names,
): Promise<number> {
  let count = 0;
  await forErrorsNaming(database, statements, property, names, async (found) => {
    count += found.length;
  });
  return count;
}

interface RefusedItem {
  job_id: Uuid;
  item: number;
  error: Buffer;
}

/** Not in SQL, where long runs of combining marks take PostgreSQL minutes that nothing interrupts. */
async function forErrorsNaming(
  database: Queryable,
  { pageAll, read }: JobErrorStatements,
  property: Uuid,
  names: Names,
  act: (found: readonly RefusedItem[]) => Promise<unknown>,
): Promise<void> {
  if (names.identifiers.length + names.profileIds.length === 0) return;
  const isNamed = personFinder(names);
  const steps = new Steps();
  await forLargeTexts<{ job_id: Uuid; item: number; bytes: number }>(
    errorRowsMax,
    (after, rowsMax) => pageAll(database, [property, after?.job_id ?? nilUuid, after?.item ?? -1, rowsMax]),
    async (items) => {
      const found: RefusedItem[] = [];
      for (const row of await read(database, [property, [...items]])) {
        await steps.next();
        if (isNamed(row.original_json)) found.push(row);
      }
      if (found.length > 0) await act(found);
    },
  );
}

/** The chunks of a kind of job. */
export interface ErasableJobs<Item> {
  statements: JobStatements;
  chunkSchema: GenMessage<Message & { items: Item[] }>;
  /** Whether an item names the person. */
  names: (item: Item) => boolean;
  /** What stands for an erased item; its job refuses it. */
  erased: () => Item;
}

/**
 * Goes through the items of a property that are still to do.
 * @param erases whether those that name the person are replaced.
 * @returns how many name the person.
 */
export async function forItemsNaming<Item>(
  database: Database,
  property: Uuid,
  { statements, chunkSchema, names, erased }: ErasableJobs<Item>,
  erases: boolean,
): Promise<number> {
  let found = 0;
  let at = { job_id: nilUuid, chunk: -1 };
  for (;;) {
    const [next] = await statements.nextOpenChunk(database, [property, at.job_id, at.chunk]);
    if (!next) return found;
    at = next;
    found += await withTransaction(database, async (tx) => {
      const [held] = await statements.lockChunk(tx, [property, next.job_id, next.chunk]);
      if (!held) return 0;
      const { items } = fromBinary(chunkSchema, held.payload);
      const theirs = items.filter(names).length;
      if (erases && theirs > 0) {
        const message = create(chunkSchema);
        message.items = items.map((item) => (names(item) ? erased() : item));
        const payload = Buffer.from(toBinary(chunkSchema, message));
        await statements.rewriteChunk(tx, [property, next.job_id, next.chunk, payload]);
      }
      return theirs;
    });
  }
}
