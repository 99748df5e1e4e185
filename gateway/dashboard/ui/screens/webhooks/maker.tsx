/** Who made an endpoint: a member, a key, an app, or an operator. */
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { useMayEverywhere, useProperty, useViewer } from "../../data/viewer.ts";

const namesMax = 500;

export function Maker({ id, appId }: { id: string; appId?: string | undefined }): React.ReactNode {
  const { id: property } = useProperty();
  const { member: viewer } = useViewer();
  const mayList = useMayEverywhere("members:manage");
  const isMember = id.startsWith("mem_");
  const list = useQuery(MemberService.method.listMembers, { limit: namesMax }, { enabled: mayList && isMember });
  const params = { property };
  if (appId !== undefined) {
    const search = id.startsWith("inst_") ? ({ show: "all", installation: id } as const) : ({} as const);
    return (
      <Link to="/$property/apps" params={params} search={search}>
        An app
      </Link>
    );
  }
  if (id === viewer.id) return "You";
  if (isMember) return list.data?.members.find((member) => member.id === id)?.name ?? <Copy text={id} short />;
  if (id.startsWith("key_")) {
    return (
      <Link to="/$property/keys" params={params} search={{ show: "all", key: id }}>
        A key, with which it ends
      </Link>
    );
  }
  if (id.startsWith("inst_")) {
    return (
      <Link to="/$property/apps" params={params} search={{ show: "all", installation: id }}>
        An app, with which it ends
      </Link>
    );
  }
  return `Operator (${id})`;
}
