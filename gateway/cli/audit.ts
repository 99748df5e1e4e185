/** Keeps what an operator did. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { OperatorServices } from "./command.ts";

/** Leaves an entry in the audit, without a member. Call this once a method has succeeded. */
export async function audit(
  { members }: OperatorServices,
  { parent, name }: DescMethod,
  about: { targetIds?: string[]; propertyId?: string },
): Promise<void> {
  await members.recordAudit({ entry: { ...about, action: `${parent.typeName}/${name}`, succeeded: true } });
}
