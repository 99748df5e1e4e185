/** What callers may see. */
import type { Viewer } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, nilUuid, type Uuid } from "#shared/values/ids.ts";
import { allTypes, typesAllowedBy } from "#shared/values/webhook-types.ts";
import { listEndpoints, lockEndpoint, readEndpoint, type EndpointRow } from "./sql/endpoints.ts";

/** Conditions of what is seen; null for none. */
export interface Sight {
  /** Endpoints all of whose types are among these. */
  types: readonly string[] | null;
  /** Endpoints of this installation. */
  installation: Uuid | null;
}

// All of a property: 20, and one for each app that is installed.
const endpointsMax = 2_000;

/** Reads on whose behalf a call is; without a viewer all is seen. */
export function sightOf(viewer: Viewer | undefined): Sight {
  if (!viewer) return { types: null, installation: null };
  const { scopes, installationId } = viewer;
  const installation = installationId === undefined ? null : decodeId("inst", installationId, "viewer.installation_id");
  return { types: typesAllowedBy(scopes), installation };
}

/** Reads an endpoint that a viewer may see. @throws DaybookError `resource_not_found` */
export async function findEndpoint(
  database: Queryable,
  property: Uuid,
  endpointId: string,
  sight: Sight,
): Promise<EndpointRow> {
  const [row] = await readEndpoint(database, [property, decodeId("hook", endpointId, "endpoint_id")]);
  return seen(row, sight);
}

/** The same, and locks it until the end of the transaction. */
export async function findAndLock(
  database: Queryable,
  property: Uuid,
  endpointId: string,
  sight: Sight,
): Promise<EndpointRow> {
  const [row] = await lockEndpoint(database, [property, decodeId("hook", endpointId, "endpoint_id")]);
  return seen(row, sight);
}

/** The ids of all endpoints that a viewer may see. */
export async function listSeen(database: Queryable, property: Uuid, sight: Sight): Promise<Uuid[]> {
  const { types, installation } = sight;
  const rows = await listEndpoints(database, [property, types, installation, null, nilUuid, endpointsMax]);
  return rows.map(({ id }) => id);
}

/** Whether a viewer may see an endpoint. One that has lost its types, because its app is gone, is seen with all. */
export function isSeen(row: EndpointRow, { types, installation }: Sight): boolean {
  const names = row.types.length === 0 ? [allTypes] : row.types;
  return (
    (types === null || names.every((name) => types.includes(name))) &&
    (installation === null || (row.owner_kind === "inst" && row.owner_id === installation))
  );
}

function seen(row: EndpointRow | undefined, sight: Sight): EndpointRow {
  if (!row || !isSeen(row, sight)) {
    throw new DaybookError("resource_not_found", "There is no such endpoint.", { param: "endpoint_id" });
  }
  return row;
}
