/** Items of imports that are kept: refused ones, and those that are still to do. */
import { create } from "@bufbuild/protobuf";
import {
  CreateImportJobRequestSchema,
  ImportItemSchema,
  type ImportItem,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Database } from "#shared/database/postgres.ts";
import { countErrorsNaming, emptyErrorsNaming, forItemsNaming, type ErasableJobs } from "#shared/jobs/erasing.ts";
import type { Names } from "#shared/values/names.ts";
import { identifierKey, normalizeIdentifier, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { encodeId, tryDecodeId, type Uuid } from "#shared/values/ids.ts";
import { importJobs } from "../imports.ts";
import { importErrors } from "../sql/imports.ts";

/** Counts the kept items that name a person. */
export async function countKept(
  database: Database,
  property: Uuid,
  profiles: readonly Uuid[],
  known: readonly NormalIdentifier[],
): Promise<number> {
  const names = namesOf(profiles, known);
  const waiting = await forItemsNaming(database, property, itemsOf(profiles, known), false);
  return waiting + (await countErrorsNaming(database, importErrors, property, names));
}

/** Empties the kept items that name a person. Those that are still to do will be refused. */
export async function emptyKept(
  database: Database,
  property: Uuid,
  profiles: readonly Uuid[],
  known: readonly NormalIdentifier[],
): Promise<void> {
  // Items to do come first, because one that is refused meanwhile becomes a refused item.
  await forItemsNaming(database, property, itemsOf(profiles, known), true);
  await emptyErrorsNaming(database, importErrors, property, namesOf(profiles, known));
}

function namesOf(profiles: readonly Uuid[], identifiers: readonly NormalIdentifier[]): Names {
  return { identifiers, profileIds: profiles.map((id) => encodeId("prof", id)) };
}

function itemsOf(profiles: readonly Uuid[], known: readonly NormalIdentifier[]): ErasableJobs<ImportItem> {
  const ids = new Set<string>(profiles);
  const keys = new Set(known.map(identifierKey));
  return {
    statements: importJobs.statements,
    chunkSchema: CreateImportJobRequestSchema,
    names({ write }) {
      if (write.case === undefined) return false;
      const { identifiers, removeIdentifiers } = write.value;
      const isNamed = [...identifiers, ...removeIdentifiers].some((identifier) => {
        const normal = normalizeIdentifier(identifier, "");
        return !("errors" in normal) && keys.has(identifierKey(normal));
      });
      const named = write.case === "update" ? tryDecodeId("prof", write.value.profileId) : undefined;
      return isNamed || (named !== undefined && ids.has(named));
    },
    erased: () => create(ImportItemSchema, { originalJson: "{}" }),
  };
}
