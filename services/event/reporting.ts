/** Reports of refused writes: at most one for a key and 10 minutes, and only if there were any. */
import { create, toBinary } from "@bufbuild/protobuf";
import { RejectedWritesReportedSchema } from "#proto/daybook/event/v1/rejected_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import { encodeId, newUuid, nilUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "./context.ts";
import { dayOf } from "./domain/rejections.ts";
import { toGroups } from "./rejected-mapping.ts";
import { reportedSubject } from "./rejected-subjects.ts";
import { closeReport, findDueReports, lockKept, noteReported, readUnreported } from "./sql/rejected-counts.ts";

const lookIntervalMs = 2_000;
const reportIntervalMicros = 10 * 60 * 1_000_000;
const reportsMax = 500;
const groupsMax = 20;

export function startReports(context: EventContext): Repeated {
  return repeat(lookIntervalMs, context.log, "report refused writes", async (signal) => {
    const due = await findDueReports(context.database, [formatMicros(context.clock.nowMicros()), reportsMax]);
    for (const { property_id: property, key_id: keyId } of due) {
      if (signal.aborted) return;
      await report(context, property, keyId);
    }
  });
}

async function report({ database, clock, relay }: EventContext, property: Uuid, keyId: string): Promise<void> {
  const isTold = await withTransaction(database, async (tx) => {
    const now = clock.nowMicros();
    // As whoever counts does first, so that no count comes between.
    await lockKept(tx, [property, formatMicros(dayOf(now))]);
    const nextAt = formatMicros(now + reportIntervalMicros);
    const [closed] = await closeReport(tx, [property, keyId, formatMicros(now), nextAt]);
    if (!closed) return false;
    const rows = await readUnreported(tx, [property, keyId, groupsMax]);
    await noteReported(tx, [property, keyId]);
    const [first] = rows;
    if (!first) return false;
    const message = create(RejectedWritesReportedSchema, {
      reportId: newUuid(),
      propertyId: encodeId("prop", property),
      from: toTimestamp(closed.first_at),
      to: toTimestamp(now),
      count: BigInt(first.total),
      groups: await toGroups(tx, property, nilUuid, rows),
    });
    await relay.enqueue(tx, property, reportedSubject, toBinary(RejectedWritesReportedSchema, message));
    return true;
  });
  if (isTold) relay.wake();
}
