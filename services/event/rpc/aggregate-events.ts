import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  AggregateEventsResponseSchema,
  EventGroupSchema,
  type EventService,
} from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { isRawNumber, parseJson, textProblem } from "#shared/json/json.ts";
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
const groupByMax = 3;
const conditionsMax = 10;

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
    if (groupBy.length > groupByMax) throw invalid(`There are at most ${groupByMax} groupings.`, "group_by");
    if (conditions.length > conditionsMax) throw invalid(`There are at most ${conditionsMax} conditions.`, "filter");
    const query = {
      property,
      type: request.type,
      bucketStarts: bucketStarts.map(formatTimestamp),
      to: formatTimestamp(to),
      groupBy: groupBy.map((text, index) => readField(text, `group_by.${index}`)),
      conditions: conditions.map(({ field, valueJson }) => ({
        field: readField(field, `filter.${field}`),
        value: readValue(valueJson, `filter.${field}`),
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

function readField(text: string, param: string): EventField {
  const field = textProblem(text) === undefined ? parseField(text) : undefined;
  if (field === undefined) {
    throw invalid("Events are grouped and chosen by source, currency or properties.<path>.", param);
  }
  return field;
}

function readValue(text: string, param: string): ConditionValue {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string" && textProblem(value) === undefined) return { string: value };
  if (typeof value === "number" || isRawNumber(value)) return { number: text.trim() };
  throw invalid("A field is compared with a text, a number, true, false or null.", param);
}

function invalid(message: string, param: string): DaybookError {
  return new DaybookError("parameter_invalid", message, { param });
}
