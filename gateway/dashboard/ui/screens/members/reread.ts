/** Reads members, invitations and the viewer anew after a change. */
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { useRereadViewer } from "../../data/viewer.ts";

export function useRereadMembers(): () => void {
  const client = useQueryClient();
  const rereadViewer = useRereadViewer();
  return () => {
    const { listMembers, listInvitations } = MemberService.method;
    const keys = [
      createConnectQueryKey({ schema: listMembers, cardinality: "infinite" }),
      createConnectQueryKey({ schema: listInvitations, cardinality: "finite" }),
    ];
    for (const queryKey of keys) void client.invalidateQueries({ queryKey });
    void rereadViewer();
  };
}
