/** What is said of the subscriptions of every profile: clients read into it unasked, and nothing is known of them here. */

const never = { consent: "NEVER_SUBSCRIBED", consent_timestamp: null };
const method = { method: null, method_detail: null };

/** Nobody was asked, so nobody may be sent to. */
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
