/** Subscriptions of every profile. Clients read nested fields without a check, and Daybook stores no consent. */

const never = { consent: "NEVER_SUBSCRIBED", consent_timestamp: null };
const method = { method: null, method_detail: null };

export const noSubscriptions = {
  email: {
    marketing: {
      can_receive_email_marketing: false,
      ...never,
      last_updated: null,
      ...method,
      custom_method_detail: null,
      double_optin: null,
      suppression: [],
      list_suppressions: [],
    },
  },
  sms: { marketing: { can_receive_sms_marketing: false, ...never, ...method, last_updated: null } },
  mobile_push: { marketing: { can_receive_push_marketing: false, ...never } },
};
