/** Who sent what was refused. */
import { Link } from "@tanstack/react-router";
import { useMay, useProperty } from "../../data/viewer.ts";

export function Caller({ id, name }: { id: string; name: string }): React.ReactNode {
  const { id: property } = useProperty();
  const maySeeKeys = useMay("keys:manage");
  const maySeeApps = useMay("apps:manage");
  const shown = <span className="clamp">{name === "" ? id : name}</span>;
  const params = { property };
  if (id.startsWith("key_") && maySeeKeys) {
    return (
      <Link to="/$property/keys" params={params} search={{ show: "all", key: id }}>
        {shown}
      </Link>
    );
  }
  if (id.startsWith("inst_") && maySeeApps) {
    return (
      <Link to="/$property/apps" params={params} search={{ show: "all", installation: id }}>
        {shown}
      </Link>
    );
  }
  return shown;
}
