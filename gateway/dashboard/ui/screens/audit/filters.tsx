/** Which audit entries to show: where, whose, and of which action. */
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { ComboBox } from "../../components/combo-box.tsx";
import { Segments } from "../../components/field.tsx";
import { Toolbar } from "../../components/page.tsx";
import { firstPage } from "../../data/pages.ts";
import { useMayEverywhere } from "../../data/viewer.ts";
import { actionInWords, knownActions } from "./actions.ts";

export interface Filter {
  /** Absent: in the property of the path. */
  in?: "all";
  member?: string;
  action?: string;
}

const anyone = { value: "anyone", title: "Anyone" };
const anything = { value: "anything", title: "Any action" };
const membersMax = 500;

const actions = [
  anything,
  ...knownActions
    .map((action) => ({ value: action, title: actionInWords(action) }))
    .toSorted((one, other) => one.title.localeCompare(other.title)),
];

export function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }): React.ReactNode {
  const maySeeAll = useMayEverywhere("audit:read");
  const mayList = useMayEverywhere("members:manage");
  const list = useInfiniteQuery(
    MemberService.method.listMembers,
    { limit: membersMax, afterMemberId: firstPage },
    { pageParamKey: "afterMemberId", getNextPageParam: () => undefined, enabled: mayList },
  );
  const members = (list.data?.pages.flatMap((page) => page.members) ?? []).map(({ id, email, name }) => ({
    value: id,
    title: email,
    detail: name,
  }));
  const { member, action, ...rest } = filter;
  const isOther = member !== undefined && !members.some(({ value }) => value === member);
  const whose = [anyone, ...members, ...(isOther ? [{ value: member, title: member }] : [])];
  const isOtherAction = action !== undefined && !knownActions.includes(action);
  const set = (next: { member?: string | undefined; action?: string | undefined; in?: "all" | undefined }): void => {
    const whole = Object.entries({ ...filter, ...next }).filter(([, value]) => value !== undefined);
    onChange(Object.fromEntries(whole));
  };
  return (
    <Toolbar label="Filter">
      {maySeeAll && (
        <Segments
          label="Where"
          value={rest.in ?? "here"}
          options={[
            { value: "here", title: "This property" },
            { value: "all", title: "Everything" },
          ]}
          onChange={(value) => set({ in: value === "all" ? "all" : undefined })}
        />
      )}
      {(mayList || isOther) && (
        <ComboBox
          key={`${member ?? ""} ${whose.length}`}
          label="Who"
          isLabelHidden
          value={member ?? anyone.value}
          options={whose}
          onChange={(value) => set({ member: value === anyone.value ? undefined : value })}
        />
      )}
      <ComboBox
        key={action ?? ""}
        label="Action"
        isLabelHidden
        value={action ?? anything.value}
        options={isOtherAction ? [...actions, { value: action, title: actionInWords(action) }] : actions}
        onChange={(value) => set({ action: value === anything.value ? undefined : value })}
      />
    </Toolbar>
  );
}
