import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { TestEndpointResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, newUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { testJson } from "#shared/wire/webhooks.ts";
import type { WebhookContext } from "../context.ts";
import { findDelivery } from "../deliveries.ts";
import { render } from "../domain/happening.ts";
import { toWholeDelivery } from "../mapping.ts";
import { readStates } from "../sending/targets.ts";
import { readProperty } from "../sql/properties.ts";
import { findTests, noteTest, storeTest } from "../sql/tests.ts";
import { findAndLock, sightOf } from "../viewer.ts";

const testsMax = 10;
const minuteMicros = 60 * 1_000_000;

export function testEndpoint(context: WebhookContext): ServiceImpl<typeof WebhookService>["testEndpoint"] {
  const { database, clock, sender } = context;
  return async ({ propertyId, endpointId, viewer }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const sight = sightOf(viewer);
    const [message, id, now] = [newUuid(), newUuid(), clock.nowMicros()];
    const [known] = await readProperty(database, [property]);
    const { endpoint, body } = await withTransaction(database, async (tx) => {
      // One after the other, over all processes.
      const found = await findAndLock(tx, property, endpointId, sight);
      const tests = await findTests(tx, [property, found.id, formatMicros(now - minuteMicros), testsMax]);
      const [first] = tests;
      if (first && tests.length >= testsMax) {
        const retryAfterMs = Math.max(1, Math.ceil((first.created_at + minuteMicros - now) / 1000));
        throw new DaybookError("rate_limited", `An endpoint is tested at most ${testsMax} times a minute.`, {
          retryAfterMs,
        });
      }
      const data = (): string => testJson(encodeId("hook", found.id));
      const happening = { property, type: "webhook.test", id: message, at: now, data } as const;
      const text = render(happening, known?.livemode === true, found.revision);
      // It has failed unless its attempt is recorded: nobody sends it again.
      await storeTest(tx, [property, id, found.id, message, found.revision, text, formatMicros(now)]);
      return { endpoint: found.id, body: text };
    });
    const target = (await readStates(context, [{ property, id: endpoint }])).get(endpoint)?.target;
    if (!target) throw new Error("an endpoint cannot be tested, because its secret cannot be opened");
    const result = await sender.sendOnce({ target, messageId: encodeId("whm", message), body, attempt: 1 });
    const entry = {
      at: formatMicros(result.startedAt),
      duration_ms: result.durationMs,
      status: result.status,
      error: result.error,
      excerpt: result.excerpt,
    };
    const status = result.error === null ? "delivered" : "failed";
    const ended = formatMicros(clock.nowMicros());
    await noteTest(database, [property, id, status, result.status, result.error, entry, ended]);
    const row = await findDelivery(database, property, encodeId("dlv", id), sight);
    return create(TestEndpointResponseSchema, { delivery: toWholeDelivery(row) });
  };
}
