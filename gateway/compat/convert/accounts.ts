/** Maps properties to accounts. */
import { Mode, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Resource } from "../reply.ts";

/** A property as an account. Fields without a counterpart are empty or null. */
export function accountResource(property: Property, links: { self: string }): Resource {
  const { id, name, mode, timezone, defaultCurrency } = property;
  return {
    type: "account",
    id,
    attributes: {
      test_account: mode !== Mode.LIVE,
      contact_information: {
        default_sender_name: name,
        default_sender_email: "",
        website_url: null,
        organization_name: name,
        // Strings, though the other platform documents null, because its Python SDK accepts nothing else.
        street_address: { address1: "", address2: "", city: "", region: "", country: "", zip: "" },
      },
      industry: null,
      timezone,
      preferred_currency: defaultCurrency,
      public_api_key: id,
      locale: "en-US",
    },
    links,
  };
}
