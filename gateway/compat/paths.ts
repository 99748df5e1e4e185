/** First segments of the other platform's paths. Both groups are recognized with and without `/api`. */

/** Segments with routes. */
export const areas = [
  "events",
  "event-bulk-create-jobs",
  "profiles",
  "profile-import",
  "profile-merge",
  "profile-bulk-import-jobs",
  "metrics",
  "metric-aggregates",
  "accounts",
  "data-privacy-deletion-jobs",
  "lists",
  "segments",
] as const;

/** Segments that answer "not supported". */
export const unsupportedAreas = [
  "back-in-stock-subscriptions",
  "campaign-messages",
  "campaign-recipient-estimations",
  "campaign-send-jobs",
  "campaign-values-reports",
  "campaigns",
  "catalog-categories",
  "catalog-items",
  "catalog-variants",
  "client",
  "conversations",
  "coupon-codes",
  "coupons",
  "custom-metrics",
  "custom-objects",
  "data-sources",
  "flow-actions",
  "flow-messages",
  "flow-series-reports",
  "flow-values-reports",
  "flows",
  "form-values-reports",
  "forms",
  "image-upload",
  "images",
  "mapped-metrics",
  "metric-properties",
  "profile-subscription-bulk-create-jobs",
  "profile-subscription-bulk-delete-jobs",
  "profile-suppression-bulk-create-jobs",
  "profile-suppression-bulk-delete-jobs",
  "push-tokens",
  "reviews",
  "segment-values-reports",
  "tag-groups",
  "tags",
  "template-clone",
  "template-render",
  "template-universal-content",
  "templates",
  "tracking-settings",
  "web-feeds",
  "webhook-topics",
  "webhooks",
] as const;

const firstSegments: ReadonlySet<string> = new Set(["api", ...areas, ...unsupportedAreas]);

/**
 * Collapses repeated slashes and removes a trailing one. Clients differ in both, and some lose the body in a redirect.
 * URLs of other surfaces stay unchanged.
 */
export function normalizeUrl(url: string): string {
  const queryAt = url.indexOf("?");
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  const collapsed = path.replaceAll(/\/{2,}/g, "/");
  if (!isCompatPath(collapsed)) return url;
  const trimmed = collapsed.length > 1 ? collapsed.replace(/\/$/, "") : collapsed;
  return queryAt < 0 ? trimmed : trimmed + url.slice(queryAt);
}

/** Whether a path belongs to this surface, supported or not. */
export function isCompatPath(path: string): boolean {
  const [, first = ""] = /^\/([^/?#]*)/.exec(path) ?? [];
  return firstSegments.has(first);
}
