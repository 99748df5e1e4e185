/** What the person may ask for: leads to Privacy, with this profile filled in. */
import { useNavigate } from "@tanstack/react-router";
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Menu } from "../../components/menu.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";

export function PrivacyMenu({ of: profile }: { of: Profile }): React.ReactNode {
  const { id: property } = useProperty();
  const navigate = useNavigate();
  const mayExport = useMay("privacy:export");
  const mayErase = useMay("privacy:delete");
  const mayRead = useMay("privacy:read");
  if (!mayRead) return null;
  const { id } = profile;
  const searches = {
    export: { create: "access", of: id },
    erase: { create: "erasure", of: id },
    requests: { profile: id },
  } as const;
  return (
    <Menu
      label="Privacy requests of this person"
      trigger="Privacy …"
      items={[
        ...(mayExport ? [{ id: "export", title: "Export all of it …" }] : []),
        ...(mayErase ? [{ id: "erase", title: "Erase the person …", isDangerous: true }] : []),
        { id: "requests", title: "Requests about it" },
      ]}
      onAction={(action) =>
        void navigate({
          to: "/$property/privacy",
          params: { property },
          search: searches[action as keyof typeof searches],
        })
      }
    />
  );
}
