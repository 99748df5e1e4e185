/** Who looks, at which property, and what she may do there. */
import { createConnectQueryKey, useSuspenseQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { DashboardService, type GetViewerResponse } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import type { Member, Session } from "#proto/daybook/identity/v1/members_pb.ts";
import { Mode, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";

export type Viewer = GetViewerResponse & { member: Member; session: Session };

/** The shell has loaded it before any screen renders. */
export function useViewer(): Viewer {
  const { data } = useSuspenseQuery(DashboardService.method.getViewer, {}, { staleTime: 60_000 });
  return data as Viewer;
}

/** Reads the viewer anew, after a change of her properties or of her own account. */
export function useRereadViewer(): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: DashboardService.method.getViewer, cardinality: "finite" }),
    });
}

/** The property of the path. The shell renders no screen without one. */
export function useProperty(): Property {
  const { properties } = useViewer();
  const { property: id } = useParams({ strict: false });
  const found = properties.find((property) => property.id === id);
  if (!found) throw new Error(`There is no property ${String(id)} here.`);
  return found;
}

export const isTest = ({ mode }: Property): boolean => mode === Mode.TEST;

/** The name of a property where no color tells test from live. Some names tell it themselves. */
export function titleOf(property: Property): string {
  const { name } = property;
  return isTest(property) && !/\(test\)$/i.test(name) ? `${name} (test)` : name;
}

/** The rights that the viewer has in a property: scopes such as `profiles:merge`, and rights such as `keys:manage`. */
export function rightsIn({ member }: Viewer, propertyId: string): ReadonlySet<string> {
  const grants = member.grants.filter((grant) => grant.propertyId === undefined || grant.propertyId === propertyId);
  return new Set(grants.flatMap(({ rights }) => rights));
}

/** The viewer's rights in the property of the path. */
export function useRights(): ReadonlySet<string> {
  const viewer = useViewer();
  return rightsIn(viewer, useProperty().id);
}

/** Whether the viewer may do something in the property of the path. */
export function useMay(right: string): boolean {
  return useRights().has(right);
}

/** Whether the viewer may do something in all properties. */
export function useMayEverywhere(right: string): boolean {
  const { grants } = useViewer().member;
  return grants.some(({ propertyId, rights }) => propertyId === undefined && rights.includes(right));
}
