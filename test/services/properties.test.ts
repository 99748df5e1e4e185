/**
 * Settings of a property: what they are unless they are said, and that whoever calls with a key of it is told of them.
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { describeEverywhere, testCall } from "../support/daybook.ts";

describeEverywhere("settings of a property", (daybook) => {
  test("come with the key, and change", async () => {
    const { identity } = daybook().clients;
    const { propertyId, secret } = await daybook().newProperty();
    const read = async () => {
      const secretHash = createHash("sha256").update(secret).digest();
      const { property } = await identity.authenticateKey({ secretHash }, testCall);
      return [property?.name, property?.defaultCurrency, property?.timezone];
    };
    expect(await read()).toEqual(["Test", "USD", "UTC"]);
    await identity.updateProperty({ propertyId, defaultCurrency: "eur", timezone: "Asia/Kolkata" }, testCall);
    expect((await read()).slice(0, 2)).toEqual(["Test", "EUR"]);
    const { property } = await identity.updateProperty({ propertyId, name: "Shop" }, testCall);
    expect(await read()).toEqual(["Shop", property?.defaultCurrency, property?.timezone]);
    expect(property?.defaultCurrency).toBe("EUR");
  });

  test("are refused with every field at fault", async () => {
    const request = { name: "x", mode: Mode.TEST, defaultCurrency: "EURO", timezone: "Mars/Olympus" };
    const refusal: unknown = await daybook()
      .clients.identity.createProperty(request, testCall)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: "parameter_invalid",
      errors: [{ param: "default_currency" }, { param: "timezone" }],
    });
  });
});
