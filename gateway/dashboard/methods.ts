/**
 * The allow-list: which RPCs a browser may call, and what a member needs for each. Every other method is answered with
 * `unknown_method`, also those that exist.
 */
import { BusService } from "#proto/daybook/common/v1/bus_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { AppService, RevokedReason, type App } from "#proto/daybook/identity/v1/apps_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ProfileService, ProfileSort, type ListProfilesRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { checkNewKey, checkRotatedKey } from "./keys.ts";
import { maskFound, maskImportErrors, maskProfile, maskProfiles } from "./masking.ts";
import { managing, methodsOf, reading, writing, type Exchange, type Method } from "./method.ts";
import { privacyMethods } from "./privacy-methods.ts";
import { missingRight } from "./refusal.ts";
import { rejectedWriteMethods } from "./rejected-write-methods.ts";
import { webhookMethods } from "./webhook-methods.ts";

/** The source of what members write. */
const source = "dashboard";

const own = { where: "own", right: null } as const;

interface ProfileWrite {
  profileId: string;
  operationId?: string | undefined;
  source?: string;
}

/** The browser neither chooses the source, nor repeats another caller's operation. */
function asDashboard(input: ProfileWrite): void {
  delete input.operationId;
  if (input.source !== undefined) input.source = source;
}

const profileWrite = {
  audit: ({ profileId }: ProfileWrite) => [profileId],
  prepare: asDashboard,
  mask: maskProfile,
};

/** A place by email would tell emails: whoever tries places learns them letter by letter. */
function refuseEmailOrder({ sort, after }: ListProfilesRequest): void {
  if (sort !== ProfileSort.EMAIL && after?.email === undefined) return;
  const message = "`sort` must be created_at, updated_at or id: the dashboard does not sort by email.";
  throw new DaybookError("unsupported_sort", message, { param: "sort" });
}

/** Hundreds of guesses in one call would complete a masked phone number within minutes. */
function refuseManyGuesses({ anyIdentifiers }: ListProfilesRequest, { rights }: Exchange): void {
  if (anyIdentifiers.length > 1 && !rights.has("identifiers:read_value")) throw missingRight("identifiers:read_value");
}

/** What AggregateEvents reads is for the metric service: AggregateMetric answers from it, within its own limits. */
const eventMethods = methodsOf(EventService, ({ clients }) => clients.events, {
  listEvents: reading("events:read"),
  getEvents: reading("events:read"),
  getWatermark: reading("events:read"),
  getLastEvents: reading("events:read"),
  countProfileEvents: reading("events:read"),
  countRecentEvents: reading("events:read"),
  getEventJob: reading("imports:read"),
  listEventJobs: reading("imports:read"),
  listEventJobErrors: reading("imports:read"),
});

const profileMethods = methodsOf(ProfileService, ({ clients }) => clients.profiles, {
  getProfiles: { ...reading("profiles:read"), mask: maskProfiles },
  listProfiles: {
    ...reading("profiles:read"),
    prepare(input, exchange) {
      refuseEmailOrder(input);
      refuseManyGuesses(input, exchange);
    },
    mask: maskProfiles,
  },
  findProfiles: { ...reading("profiles:read"), mask: maskFound },
  getMergedProfiles: reading("profiles:read"),
  listMerges: reading("profiles:read"),
  previewMerge: { ...reading("profiles:read"), mask: maskProfile },
  getAttributeSchema: reading("schemas:read"),
  getImportJob: reading("imports:read"),
  listImportJobs: reading("imports:read"),
  listImportedProfiles: { ...reading("imports:read"), mask: maskProfiles },
  listImportErrors: { ...reading("imports:read"), mask: maskImportErrors },
  updateTags: { ...writing("profiles:write"), ...profileWrite },
  updateProfile: { ...writing("profiles:write"), ...profileWrite },
  addIdentifier: {
    ...writing("identifiers:write"),
    ...profileWrite,
    audit: ({ profileId }, output) => [profileId, output?.identifierId],
  },
  promoteIdentifier: {
    ...writing("identifiers:write"),
    ...profileWrite,
    audit: ({ profileId, identifierId }) => [profileId, identifierId],
  },
  removeIdentifier: {
    ...writing("identifiers:write"),
    ...profileWrite,
    audit: ({ profileId, identifierId }) => [profileId, identifierId],
  },
  mergeProfiles: {
    ...writing("profiles:merge"),
    ...profileWrite,
    fresh: true,
    audit: ({ profileId, sourceProfileId }) => [profileId, sourceProfileId],
  },
  redactProfile: { ...writing("profiles:redact"), ...profileWrite, fresh: true },
});

const metricMethods = methodsOf(MetricService, ({ clients }) => clients.metrics, {
  getMetrics: reading("metrics:read"),
  listMetrics: reading("metrics:read"),
  aggregateMetric: reading("metrics:read"),
  describeActivity: reading("metrics:read"),
  listSparklines: reading("metrics:read"),
  createMetric: {
    ...writing("metrics:write"),
    audit: (_input, output) => [output?.metric?.id],
    prepare: (input) => void delete input.operationId,
  },
  updateMetric: {
    ...writing("metrics:write"),
    audit: ({ metricId }) => [metricId],
    prepare: (input) => void delete input.operationId,
  },
  describeRollups: { where: "either", right: "metrics:read", reads: true },
  rebuildRollups: { ...managing("operate"), audit: ({ propertyId }) => [propertyId] },
});

const identityMethods = methodsOf(IdentityService, ({ clients }) => clients.identity, {
  listKeys: reading("keys:manage"),
  getKey: reading("keys:manage"),
  listRateWindows: reading("keys:manage"),
  createKey: {
    ...writing("keys:manage"),
    fresh: true,
    audit: (_input, output) => [output?.key?.id],
    prepare: checkNewKey,
  },
  rotateKey: {
    ...writing("keys:manage"),
    fresh: true,
    audit: ({ keyId }, output) => [keyId, output?.key?.id],
    prepare: checkRotatedKey,
  },
  revokeKey: { ...writing("keys:manage"), fresh: true, audit: ({ keyId }) => [keyId] },
  updateProperty: { ...writing("properties:manage"), audit: ({ propertyId }) => [propertyId] },
  listProperties: { ...managing("properties:manage"), reads: true },
  createProperty: { ...managing("properties:manage"), audit: (_input, output) => [output?.property?.id] },
});

/** What is known of an app's secrets is for who manages the apps of all properties, where GetApp has it. */
function hideSecrets(app: App | undefined): void {
  if (app) app.secrets = [];
}

/**
 * Apps are of the whole installation of Daybook: who has `apps:manage` in all properties makes and changes them. In one
 * property the right is for what is installed there.
 */
const appMethods = methodsOf(AppService, ({ clients }) => clients.apps, {
  listApps: { where: "either", right: "apps:manage", reads: true, mask: ({ apps }) => apps.forEach(hideSecrets) },
  getApp: { ...managing("apps:manage"), reads: true },
  createApp: { ...managing("apps:manage"), fresh: true, audit: (_input, output) => [output?.app?.id] },
  updateApp: { ...managing("apps:manage"), fresh: true, audit: ({ appId }) => [appId] },
  addAppSecret: {
    ...managing("apps:manage"),
    fresh: true,
    audit: ({ appId }, output) => [appId, output?.app?.secrets.at(-1)?.id],
  },
  removeAppSecret: { ...managing("apps:manage"), fresh: true, audit: ({ appId, secretId }) => [appId, secretId] },
  getInstallation: { ...reading("apps:manage"), mask: ({ app }) => hideSecrets(app) },
  listInstallations: { where: "either", right: "apps:manage", reads: true },
  endInstallation: {
    ...writing("apps:manage"),
    fresh: true,
    audit: ({ installationId }) => [installationId],
    prepare: (input) => void (input.reason = RevokedReason.UNINSTALLED),
  },
});

/** Her own account. The gateway says whose it is, whatever the browser sent. */
const accountMethods = methodsOf(MemberService, ({ clients }) => clients.members, {
  confirmPassword: {
    ...own,
    audit: (input) => [input.sessionId],
    prepare(input, { request, viewer }) {
      input.sessionId = viewer.session.id;
      input.address = request.ip;
    },
  },
  changePassword: {
    ...own,
    audit: (input) => [input.sessionId],
    prepare(input, { request, viewer }) {
      input.sessionId = viewer.session.id;
      input.address = request.ip;
    },
  },
  listSessions: { ...own, reads: true, prepare: (input, { viewer }) => void (input.memberId = viewer.member.id) },
  endSession: {
    ...own,
    audit: ({ which }) => [which.value],
    prepare(input, { viewer }) {
      input.memberId = viewer.member.id;
      if (input.which.case === "allButSessionId") input.which.value = viewer.session.id;
    },
  },
});

const memberMethods = methodsOf(MemberService, ({ clients }) => clients.members, {
  listMembers: { ...managing("members:manage"), reads: true },
  listInvitations: { ...managing("members:manage"), reads: true },
  inviteMember: {
    ...managing("members:manage"),
    fresh: true,
    audit: (_input, output) => [output?.invitation?.id],
    prepare: (input, { viewer }) => void (input.invitedBy = viewer.member.id),
  },
  updateMember: {
    ...managing("members:manage"),
    fresh: true,
    audit: ({ memberId }) => [memberId],
    prepare: keepOwnSession,
  },
  removeMember: { ...managing("members:manage"), fresh: true, audit: ({ memberId }) => [memberId] },
  revokeInvitation: { ...managing("members:manage"), fresh: true, audit: ({ invitationId }) => [invitationId] },
  listAudit: { where: "either", right: "audit:read", reads: true },
});

function keepOwnSession(input: { memberId: string; keptSessionId?: string | undefined }, { viewer }: Exchange): void {
  delete input.keptSessionId;
  if (input.memberId === viewer.member.id) input.keptSessionId = viewer.session.id;
}

/** Every process with an outbox has a bus service, so its name stands before the path. */
const busMethods = (["event", "profile", "metric"] as const).flatMap((name) =>
  methodsOf(
    BusService,
    ({ clients }) => clients.outboxes[name],
    {
      describeBus: { ...managing("operate"), reads: true },
      republish: { ...managing("operate"), audit: () => [] },
      retryDeadLetters: { ...managing("operate"), audit: () => [] },
    },
    `${name}/`,
  ),
);

/** Of the services. What the gateway answers itself is in own-methods.ts. */
export const serviceMethods: readonly Method[] = [
  ...eventMethods,
  ...profileMethods,
  ...metricMethods,
  ...identityMethods,
  ...appMethods,
  ...accountMethods,
  ...memberMethods,
  ...webhookMethods,
  ...rejectedWriteMethods,
  ...privacyMethods,
  ...busMethods,
];
