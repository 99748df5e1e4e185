/** The observed schema of each property's attributes, learned from every write. */
import { LRUCache } from "lru-cache";
import { createBatcher } from "#shared/scheduling/batcher.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import { mergeSchema, observe, teaches, walk, type ObservedSchema } from "#shared/values/observed-schema.ts";
import { withTransaction, type Queryable, type Transaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toUuid, type Uuid } from "#shared/values/ids.ts";
import {
  lockSchema,
  readNewestAttributes,
  readSchema,
  writeSchema,
  type AttributeSchemaRow,
} from "./sql/attribute-schemas.ts";

/** Learns, reads and forgets observed schemas. */
export interface AttributeSchemas extends Closable {
  /**
   * Learns from written attributes. Never fails: what cannot be learned now is learned from a later, similar write.
   * @param attributes the texts of JSON objects.
   */
  learn(property: Uuid, attributes: readonly string[]): Promise<void>;
  /** Reads the stored schema, which contains what all processes learned. */
  read(property: Uuid): Promise<ObservedSchema>;
  /**
   * Deletes the paths of a profile that none of the newest other profiles has, because a key can be personal data.
   * @param tx the transaction in which the profile is already emptied.
   * @param attributes those that it had.
   */
  forget(tx: Transaction, property: Uuid, attributes: string): Promise<void>;
}

// Over all cached properties. A path takes about 150 bytes.
const rememberedPathsMax = 200_000;
// A path that another process forgot is learned again after this at the latest, from the next write that has it.
const rememberedAgeMaxMs = 60_000;
// A write waits no longer than this; its paths are learned all the same.
const learnWaitMs = 2_000;
const waitingMax = 10_000;
const flushItemsMax = 1_000;
const flushPathsMax = 20_000;
const flushesMax = 4;

// Limits of the scan of a property's newest profiles, and the rows of it in memory at once.
const lookProfilesMax = 10_000;
const lookBytesMax = 32 * 1024 * 1024;
const lookRowsMax = 50;
const beyondAllIds = toUuid("ffffffff-ffff-ffff-ffff-ffffffffffff");

/** Caches schemas of recently written properties, so that writes without new paths cost at most one read a minute. */
export function createAttributeSchemas({ database, log }: ServiceContext): AttributeSchemas {
  const remembered = new LRUCache<string, ObservedSchema>({
    maxSize: rememberedPathsMax,
    ttl: rememberedAgeMaxMs,
    sizeCalculation: ({ size }) => size + 1,
  });
  // Properties whose learning exceeded the wait and is not finished. Other writes do not wait for them.
  const overdue = new Set<string>();

  // One transaction at a time learns for a property, however many writes have new paths.
  const learning = createBatcher<ObservedSchema, void, Uuid>({
    async flush(property, items) {
      const observed: ObservedSchema = new Map();
      for (const item of items) mergeSchema(observed, item);
      let schema = remembered.get(property) ?? (await readStored(database, property));
      if (!schema || teaches(schema, observed)) schema = await extend(property, observed);
      remembered.set(property, schema);
      return items.map(() => undefined);
    },
    sizeOf: ({ size }) => size,
    flushItemsMax,
    flushSizeMax: flushPathsMax,
    flushesMax,
    queueItemsMax: waitingMax,
    queueFull: () => new Error("too many writes wait to be learned from"),
  });

  /** Extends a stored schema under a lock, so that concurrent writers lose no path. @returns the whole schema. */
  function extend(property: Uuid, observed: ObservedSchema): Promise<ObservedSchema> {
    return withTransaction(database, async (tx) => {
      const [row] = await lockSchema(tx, [property]);
      if (!row) throw new Error("a schema was not made");
      const schema = toSchema(row);
      if (teaches(schema, observed)) {
        mergeSchema(schema, observed);
        await writeSchema(tx, [property, JSON.stringify(Object.fromEntries(schema))]);
      }
      return schema;
    });
  }

  return {
    async learn(property, attributes) {
      const observed: ObservedSchema = new Map();
      for (const text of attributes) observeText(observed, text);
      const known = remembered.get(property);
      if (observed.size === 0 || (known && !teaches(known, observed))) return;
      const learned = learning
        .add(property, observed)
        .catch((error: unknown) => log.warn({ err: error, property }, "the schema of attributes could not be learned"));
      if (overdue.has(property) || (await isDoneWithin(learnWaitMs, learned))) return;
      overdue.add(property);
      void learned.then(() => overdue.delete(property));
    },
    async read(property) {
      return (await readStored(database, property)) ?? new Map();
    },
    async forget(tx, property, attributes) {
      const known = await readStored(tx, property);
      if (!known) return;
      const own = new Set<string>();
      walk(JSON.parse(attributes) as object, (path) => known.has(path) && own.add(path));
      for await (const others of newestAttributes(tx, property)) {
        if (own.size === 0) return;
        walk(JSON.parse(others) as object, (path) => own.delete(path));
      }
      const [row] = own.size > 0 ? await lockSchema(tx, [property]) : [];
      if (!row) return;
      const kept = Object.entries(row.schema).filter(([path]) => !own.has(path));
      await writeSchema(tx, [property, JSON.stringify(Object.fromEntries(kept))]);
      remembered.delete(property);
    },
    close: () => learning.drain(),
  };
}

/** Attributes of the newest profiles of a property, up to the limits of the scan. */
async function* newestAttributes(from: Queryable, property: Uuid): AsyncGenerator<string> {
  let profiles = 0;
  let bytes = 0;
  let before = beyondAllIds;
  while (profiles < lookProfilesMax && bytes < lookBytesMax) {
    const rows = await readNewestAttributes(from, [property, before, lookRowsMax]);
    for (const { id, attributes } of rows) {
      before = id;
      bytes += Buffer.byteLength(attributes);
      yield attributes;
    }
    profiles += rows.length;
    if (rows.length < lookRowsMax) return;
  }
}

async function readStored(from: Queryable, property: Uuid): Promise<ObservedSchema | undefined> {
  const [row] = await readSchema(from, [property]);
  return row && toSchema(row);
}

function toSchema({ schema }: AttributeSchemaRow): ObservedSchema {
  return new Map(Object.entries(schema));
}

function observeText(schema: ObservedSchema, text: string): void {
  if (text !== "{}") observe(schema, JSON.parse(text) as object);
}

/** Waits for `done`, at most `timeoutMs`. */
async function isDoneWithin(timeoutMs: number, done: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([done.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
