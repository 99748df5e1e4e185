import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  AggregateEventsResponseSchema,
  EventGroupSchema,
  type EventService,
} from "#proto/daybook/event/v1/event_pb.ts";
import { checkFaults, DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import {
  findConditionFaults,
  findGroupByFaults,
  groupByMax,
  readCondition,
  type WantedCondition,
} from "#shared/values/aggregate.ts";
import { textProblem } from "#shared/json/json.ts";
import { parseField, type EventField } from "#shared/values/event-field.ts";
import { createAggregateShare } from "#shared/database/reads.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import {
  aggregateEvents as aggregate,
  groupRowsMax,
  groupTextLengthMax,
  type ConditionValue,
} from "../sql/aggregate.ts";

const bucketsMax = 10_000;
const eventsMax = 2_000_000;

export function aggregateEvents({ reads }: EventContext): ServiceImpl<typeof EventService>["aggregateEvents"] {
  const share = createAggregateShare(reads);
  return async (request, { signal }) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const { bucketStarts, to, groupBy, conditions } = request;
    if (bucketStarts.length < 1 || bucketStarts.length > bucketsMax || !to) {
      throw invalid(`There are 1 to ${bucketsMax} buckets, and an end.`, "bucket_starts");
    }
    if (request.eventsMax < 1 || request.eventsMax > eventsMax) {
      throw invalid(`At most ${eventsMax} events are read.`, "events_max");
    }
    // A sum is grouped by its currency too.
    checkFaults([...findGroupByFaults(groupBy, groupByMax + 1), ...findConditionFaults(conditions.map(readCondition))]);
    const query = {
      property,
      type: request.type,
      bucketStarts: bucketStarts.map(formatTimestamp),
      to: formatTimestamp(to),
      groupBy: groupBy.map(toField),
      conditions: conditions.map((condition) => ({
        field: toField(condition.field),
        value: toConditionValue(readCondition(condition), condition.valueJson),
      })),
      withProfiles: request.withProfiles,
      eventsMax: request.eventsMax,
    };
    const rows = await share.run(property, () => aggregate(reads.of(property, signal), query), signal);
    if ((rows[0]?.scanned ?? 0) > request.eventsMax) {
      const message =
        `There are more than ${request.eventsMax} events in this range, too many to be read one by one. ` +
        "Ask for a shorter one.";
      throw new DaybookError("too_many_items", message, { param: "to" });
    }
    if (rows.length >= groupRowsMax) {
      throw new DaybookError("too_many_items", `There are more than ${groupRowsMax - 1} groups.`, {
        param: "group_by",
      });
    }
    const groups = rows.flatMap(({ bucket, values, count, sum, profiles }) => {
      if (bucket === null) return [];
      if (values.some((value) => value?.length === groupTextLengthMax)) {
        throw new DaybookError("too_many_items", "There are values here that are too long to group by.", {
          param: "group_by",
        });
      }
      return create(EventGroupSchema, {
        bucket,
        valuesJson: values.map((value) => value ?? "null"),
        count: BigInt(count),
        sum: sum ?? undefined,
        profileIds: profiles ?? undefined,
      });
    });
    return create(AggregateEventsResponseSchema, { groups });
  };
}

function toField(text: string): EventField {
  const field = parseField(text);
  const problem = textProblem(text);
  if (field === undefined || problem) throw invalid(`A field ${problem ?? "is not known"}.`, "filter");
  return field;
}

function toConditionValue({ value }: WantedCondition, text: string): ConditionValue {
  if (value === null || typeof value === "boolean") return value;
  return typeof value === "string" ? { string: value } : { number: text.trim() };
}

function invalid(message: string, param: string): DaybookError {
  return new DaybookError("parameter_invalid", message, { param });
}
