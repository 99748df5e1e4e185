/** Redaction of refused writes: bodies, messages and references that name a person. Counts stay. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { PayloadState, RejectedWritesReportedSchema } from "#proto/daybook/event/v1/rejected_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { deleteReplaced, readable, rewriteMessages } from "#shared/outbox/outbox.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { nilUuid, type Uuid } from "#shared/values/ids.ts";
import type { Names } from "#shared/values/names.ts";
import { personFinder } from "#shared/values/persons.ts";
import { emptiedError, rejectionsWithout, textsOf } from "#shared/values/rejected-texts.ts";
import type { EventContext } from "./context.ts";
import { reportedSubject, writesRejectedSubject } from "./rejected-subjects.ts";
import { emptyGroups } from "./sql/rejected-counts.ts";
import { deletePayloads, emptyWrites, readTexts, type WrittenText } from "./sql/rejected-writes.ts";

// Each with 16 KB at most.
const rowsMax = 200;

/**
 * Empties the refused writes of a property that name any of the persons, also on the bus and among the dead letters.
 * What gateways gathered before and tell afterwards needs another call. Idempotent.
 * @returns how many entries were emptied.
 */
export async function emptyRejectedWrites(context: EventContext, property: Uuid, person: Names): Promise<number> {
  const { database, bus } = context;
  let emptied = 0;
  await scan(context, property, person, async (found) => {
    const entries = found.map(({ id, error }) => ({
      id,
      error: toBinary(ErrorSchema, emptiedError(fromBinary(ErrorSchema, error))),
    }));
    await withTransaction(database, async (tx) => {
      await emptyWrites(tx, [property, PayloadState.REDACTED, entries]);
      await deletePayloads(tx, [property, found.map(({ id }) => id)]);
    });
    emptied += found.length;
  });
  const values = person.identifiers.map(({ value }) => value.toLowerCase());
  await emptyGroups(database, [property, values]);
  const names = personFinder(person);
  const replaced = await withTransaction(database, (tx) =>
    rewriteMessages(tx, { schema: "event", property, subject: reportedSubject }, withoutNames(names)),
  );
  await deleteReplaced(bus, replaced);
  await bus.rewriteDeadLetters(reportedSubject, readable(withoutNames(names)));
  await bus.rewriteDeadLetters(writesRejectedSubject, readable(rejectionsWithout(names)));
  return emptied;
}

/** Counts the refused writes of a property that name any of the persons and are not emptied. */
export async function countRejectedWrites(context: EventContext, property: Uuid, person: Names): Promise<number> {
  let count = 0;
  await scan(context, property, person, async (found) => {
    count += found.length;
  });
  return count;
}

type Rewrite = (payload: Uint8Array) => Uint8Array | undefined;
/** Whether a text names the person. */
type Finder = (text: string) => boolean;

async function scan(
  { database }: EventContext,
  property: Uuid,
  person: Names,
  act: (found: readonly WrittenText[]) => Promise<void>,
): Promise<void> {
  const names = personFinder(person);
  const pauses = new Steps();
  for (let after: Uuid | undefined = nilUuid; after !== undefined;) {
    const rows: WrittenText[] = await readTexts(database, [property, after, PayloadState.REDACTED, rowsMax]);
    const found: WrittenText[] = [];
    for (const row of rows) {
      await pauses.next();
      if (names(textOf(row))) found.push(row);
    }
    if (found.length > 0) await act(found);
    after = rows.length < rowsMax ? undefined : rows.at(-1)?.id;
  }
}

function textOf({ error, client_reference: reference, event_type: type, payload }: WrittenText): string {
  return textsOf({
    error: fromBinary(ErrorSchema, error),
    clientReference: reference ?? undefined,
    eventType: type ?? undefined,
    payload: payload?.toString(),
  });
}

function withoutNames(names: Finder): Rewrite {
  return (payload) => {
    const message = fromBinary(RejectedWritesReportedSchema, payload);
    const found = message.groups.filter(({ param, eventType }) => names(`${param ?? ""}\n${eventType ?? ""}`));
    if (found.length === 0) return undefined;
    for (const group of found) {
      delete group.param;
      delete group.eventType;
    }
    return toBinary(RejectedWritesReportedSchema, message);
  };
}
