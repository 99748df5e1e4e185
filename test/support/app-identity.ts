/** Two replicas of identity for tests of apps and of OAuth, with apps that are made and installed by RPC. */
import { fromBinary, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { inject } from "vitest";
import { AppType, type App, type CreateAppRequestSchema } from "#proto/daybook/identity/v1/apps_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { createServiceClient } from "#shared/rpc/clients.ts";
import type { Clock } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newId } from "#shared/values/ids.ts";
import { createDatabase } from "./database.ts";
import { testCall } from "./daybook.ts";
import { startIdentity, type TestIdentity } from "./identity.ts";

export type NewApp = Exclude<MessageInitShape<typeof CreateAppRequestSchema>, Message>;

export interface AppIdentity {
  url: string;
  /** A replica: each in turn. */
  at: (index: number) => TestIdentity;
  /** Of the demo properties. */
  properties: [one: string, other: string];
  /** Callers that ended since the last call, as the first replica signalled it. */
  takeEnded: () => string[];
  newApp: (changes?: NewApp) => Promise<{ app: App; secret: string | undefined }>;
  /** A consent for `events:read`. */
  install: (appId: string, propertyId?: string, index?: number) => Promise<TestGrant>;
}

/** What a consent gave. */
export interface TestGrant {
  /** Of the installation. */
  id: string;
  propertyId: string;
  grantId: string;
}

export const goodApp: NewApp = {
  name: "Tea reports",
  description: "Sends a report each week.",
  homepageUrl: "https://reports.example.com/about#daybook",
  redirectUris: ["https://reports.example.com/back"],
  scopes: ["events:read"],
  type: AppType.CONFIDENTIAL,
};

export async function startAppIdentity(owner: Owner, clock: Clock): Promise<AppIdentity> {
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  // The second finds what the first has migrated.
  const first = await startIdentity(owner, url, clock);
  const replicas = [first, await startIdentity(owner, url, clock)];
  let ended: string[] = [];
  first.signals.subscribe(KeyEndingSchema.typeName, (payload) => {
    ended.push(fromBinary(KeyEndingSchema, payload).keyId);
  });
  const identity = createServiceClient(IdentityService, first.transport);
  const listed = (await identity.listProperties({ limit: 10 }, testCall)).properties.map(({ id }) => id);
  const properties: [string, string] = [listed[0] ?? "", listed[1] ?? ""];
  const at = (index: number): TestIdentity => replicas[index % 2] ?? first;
  return {
    url,
    at,
    properties,
    takeEnded() {
      const taken = ended;
      ended = [];
      return taken;
    },
    async newApp(changes = {}) {
      const { app, secret } = await first.apps.createApp({ ...goodApp, ...changes });
      if (!app) throw new Error("the answer is not whole");
      return { app, secret };
    },
    async install(appId, propertyId = properties[0], index = 0) {
      const consent = { appId, propertyId, scopes: ["events:read"], memberId: newId("mem") };
      const { installation, grantId } = await at(index).oauth.installApp(consent);
      return { id: installation?.id ?? "", propertyId, grantId };
    },
  };
}

/** The refusal of a call. */
export async function refusalOf(call: Promise<unknown>): Promise<DaybookError> {
  const error = await call.then(
    () => new Error("it was not refused"),
    (failure: unknown) => failure,
  );
  if (!(error instanceof DaybookError)) throw error;
  return error;
}

/** Each field at fault with its code. */
export async function faultsOf(call: Promise<unknown>): Promise<Record<string, string>> {
  const error = await refusalOf(call);
  const faults = error.errors.length > 0 ? error.errors : [error];
  return Object.fromEntries(faults.map(({ param, code }) => [param ?? "", code]));
}
