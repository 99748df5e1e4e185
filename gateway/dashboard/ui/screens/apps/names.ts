/** Names of what installations have ids of: apps, and members who consented. */
import { createQueryOptions, useQuery, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { AppService, type Installation } from "#proto/daybook/identity/v1/apps_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { useMayEverywhere, useProperty, useViewer } from "../../data/viewer.ts";

const namesMax = 500;

/**
 * Names of the apps of installations by the app's id; undefined while they load. Those with access come in one call,
 * each other by its installation: nobody of one property reads apps that are not installed there.
 */
export function useAppNames(
  installations: readonly Installation[] | undefined,
): ReadonlyMap<string, string> | undefined {
  const { id: propertyId } = useProperty();
  const transport = useTransport();
  const listed = useQuery(AppService.method.listApps, { propertyId, limit: namesMax });
  const known = new Map(listed.data?.apps.map(({ id, name }) => [id, name]));
  const others = listed.isPending ? [] : (installations ?? []).filter(({ appId }) => !known.has(appId));
  const answers = useQueries({
    queries: others.map(({ id: installationId }) =>
      createQueryOptions(AppService.method.getInstallation, { propertyId, installationId }, { transport }),
    ),
  });
  if (listed.isPending || answers.some(({ isPending }) => isPending)) return undefined;
  for (const { data } of answers) if (data?.app) known.set(data.app.id, data.app.name);
  return known;
}

/** Names members. Only who manages members knows others; else a member goes by her id. */
export function useMemberNames(): (memberId: string) => string {
  const { member: viewer } = useViewer();
  const mayList = useMayEverywhere("members:manage");
  const list = useQuery(MemberService.method.listMembers, { limit: namesMax }, { enabled: mayList });
  return (memberId) => {
    if (memberId === viewer.id) return "You";
    return list.data?.members.find(({ id }) => id === memberId)?.name ?? memberId;
  };
}
