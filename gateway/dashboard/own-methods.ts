/** The methods that the gateway answers itself: DashboardService. */
import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import {
  DashboardService,
  DescribeProcessesResponseSchema,
  GetViewerResponseSchema,
  PrepareDownloadResponseSchema,
  RevealProfileResponseSchema,
  RevealRejectedWriteResponseSchema,
  SignOutResponseSchema,
} from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import type { Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { version } from "#shared/process/version.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { Clients } from "../clients.ts";
import { callOf } from "./calls.ts";
import type { DashboardContext } from "./context.ts";
import { sessionCookie } from "./entrance.ts";
import { methodsOf, type Exchange, type Method } from "./method.ts";
import { setCookie } from "./place.ts";
import { downloadPath } from "./privacy-download.ts";
import { missingRight, signInRequired } from "./refusal.ts";
import type { Viewer } from "./sessions.ts";

const propertiesMax = 500;
// Of 500 properties each. Somebody with a role in a few properties has them found among all.
const pagesMax = 40;

export function ownMethods(context: DashboardContext): Method[] {
  return methodsOf(DashboardService, (exchange) => answers(context, exchange), {
    getViewer: { where: "own", right: null, reads: true },
    signOut: { where: "own", right: null, audit: () => [] },
    revealProfile: {
      where: "property",
      right: "identifiers:read_value",
      reads: true,
      audit: ({ profileId }) => [profileId],
    },
    revealRejectedWrite: {
      where: "property",
      right: "identifiers:read_value",
      reads: true,
      audit: ({ rejectedWriteId }) => [rejectedWriteId],
      prepare: (_input, { rights }) => {
        if (!rights.has("rejected_writes:read")) throw missingRight("rejected_writes:read");
      },
    },
    prepareDownload: { where: "property", right: "privacy:export", reads: true, fresh: true },
    describeProcesses: { where: "everywhere", right: "operate", reads: true },
  });
}

function answers(context: DashboardContext, exchange: Exchange): Client<typeof DashboardService> {
  const { clients, sessions } = context;
  const { request, reply, token } = exchange;
  const options = callOptions(callOf(request, exchange.viewer));
  return {
    async getViewer() {
      // Not a remembered one, so that the page knows at once what a sign-in or an admin has changed.
      const viewer = await sessions.find(token, 0);
      if (!viewer) throw signInRequired();
      return create(GetViewerResponseSchema, {
        member: viewer.member,
        session: viewer.session,
        properties: await propertiesOf(clients, viewer, options),
        version,
        apiUrl: request.publicOrigin,
        now: toTimestamp(viewer.now),
      });
    },
    async signOut() {
      const { member, session } = exchange.viewer;
      await clients.members.endSession(
        { memberId: member.id, which: { case: "sessionId", value: session.id } },
        options,
      );
      sessions.forget(token);
      setCookie(request, reply, { name: sessionCookie, value: "", ageSeconds: 0 });
      return create(SignOutResponseSchema);
    },
    async revealProfile({ propertyId = "", profileId = "" }) {
      const { profiles } = await clients.profiles.getProfiles({ propertyId, profileIds: [profileId] }, options);
      const [profile] = profiles;
      if (!profile) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "profile_id" });
      return create(RevealProfileResponseSchema, { profile });
    },
    async revealRejectedWrite({ propertyId = "", rejectedWriteId = "" }) {
      const { write } = await clients.rejectedWrites.getRejectedWrite({ propertyId, rejectedWriteId }, options);
      return create(RevealRejectedWriteResponseSchema, write ? { write } : {});
    },
    async prepareDownload({ propertyId = "", privacyRequestId = "" }) {
      // Fails where the stream would fail, while the browser can still tell why.
      await clients.privacy.openExport({ propertyId, privacyRequestId }, options);
      return create(PrepareDownloadResponseSchema, { path: downloadPath(propertyId, privacyRequestId) });
    },
    async describeProcesses() {
      return create(DescribeProcessesResponseSchema, { processes: await clients.describeProcesses() });
    },
  };
}

/** The properties in which a member has a role, oldest first, at most 500. */
export async function propertiesOf(
  { identity }: Clients,
  { member }: Viewer,
  options: ReturnType<typeof callOptions>,
): Promise<Property[]> {
  const isEverywhere = member.grants.some(({ propertyId }) => propertyId === undefined);
  const wanted = new Set(member.grants.flatMap(({ propertyId }) => propertyId ?? []));
  const found: Property[] = [];
  let afterPropertyId: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const { properties, hasMore } = await identity.listProperties(
      { limit: propertiesMax, ...(afterPropertyId === undefined ? {} : { afterPropertyId }) },
      options,
    );
    found.push(...properties.filter(({ id }) => isEverywhere || wanted.has(id)));
    afterPropertyId = properties.at(-1)?.id;
    if (!hasMore || found.length >= (isEverywhere ? propertiesMax : wanted.size)) break;
  }
  return found.slice(0, propertiesMax);
}
