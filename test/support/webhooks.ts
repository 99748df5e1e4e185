import { expect } from "vitest";
import type { Api } from "./api.ts";

/** Ids of an endpoint, whose name has no address, and of a delivery to it; named as the examples' ids. */
export async function newWebhookIds(
  api: Pick<Api, "post" | "request">,
): Promise<{ webhookEndpoint: string; webhookDelivery: string }> {
  const made = await api.post("/v1/webhook-endpoints", { url: "https://nobody.invalid/", types: ["webhook.test"] });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  const webhookEndpoint = made.body.data.id as string;
  const tested = await api.request("POST", `/v1/webhook-endpoints/${webhookEndpoint}/test`);
  expect([tested.status, tested.text]).toEqual([200, expect.any(String)]);
  return { webhookEndpoint, webhookDelivery: tested.body.data.id as string };
}
