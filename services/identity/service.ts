import { join } from "node:path";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { migrate } from "#shared/database/migrate.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import type { Service } from "#shared/process/service.ts";
import { bootstrap, type BootstrapKeys } from "./bootstrap.ts";
import type { IdentityContext } from "./context.ts";
import { forget, forgetIntervalMs } from "./maintenance.ts";
import { createPasswords } from "./members/passwords.ts";
import { findClient as findInternalClient } from "./clients.ts";
import { acceptLink } from "./rpc/accept-link.ts";
import { addAppSecret } from "./rpc/add-app-secret.ts";
import { authenticateClient } from "./rpc/authenticate-client.ts";
import { authenticateKey } from "./rpc/authenticate-key.ts";
import { authenticateSession } from "./rpc/authenticate-session.ts";
import { authenticateToken } from "./rpc/authenticate-token.ts";
import { changePassword } from "./rpc/change-password.ts";
import { claimOperations } from "./rpc/claim-operations.ts";
import { confirmPassword } from "./rpc/confirm-password.ts";
import { consumeArtifact } from "./rpc/consume-artifact.ts";
import { createApp } from "./rpc/create-app.ts";
import { createClient } from "./rpc/create-client.ts";
import { createKey } from "./rpc/create-key.ts";
import { createProperty } from "./rpc/create-property.ts";
import { createSetupLink } from "./rpc/create-setup-link.ts";
import { deleteArtifact } from "./rpc/delete-artifact.ts";
import { describeCallers } from "./rpc/describe-callers.ts";
import { endGrant } from "./rpc/end-grant.ts";
import { endInstallation } from "./rpc/end-installation.ts";
import { endSession } from "./rpc/end-session.ts";
import { findArtifact } from "./rpc/find-artifact.ts";
import { findClient } from "./rpc/find-client.ts";
import { findGrant } from "./rpc/find-grant.ts";
import { finishOperations } from "./rpc/finish-operations.ts";
import { forgetAnswers } from "./rpc/forget-answers.ts";
import { getApp } from "./rpc/get-app.ts";
import { getInstallation } from "./rpc/get-installation.ts";
import { getKey } from "./rpc/get-key.ts";
import { getLink } from "./rpc/get-link.ts";
import { installApp } from "./rpc/install-app.ts";
import { inviteMember } from "./rpc/invite-member.ts";
import { leaseRequests } from "./rpc/lease-requests.ts";
import { listApps } from "./rpc/list-apps.ts";
import { listAudit } from "./rpc/list-audit.ts";
import { listClients } from "./rpc/list-clients.ts";
import { listInstallations } from "./rpc/list-installations.ts";
import { listInvitations } from "./rpc/list-invitations.ts";
import { listKeys } from "./rpc/list-keys.ts";
import { listMembers } from "./rpc/list-members.ts";
import { listProperties } from "./rpc/list-properties.ts";
import { listRateWindows } from "./rpc/list-rate-windows.ts";
import { listSessions } from "./rpc/list-sessions.ts";
import { listWebhookInstallations } from "./rpc/list-webhook-installations.ts";
import { noteKeyUse } from "./rpc/note-key-use.ts";
import { recordAudit } from "./rpc/record-audit.ts";
import { removeAppSecret } from "./rpc/remove-app-secret.ts";
import { removeMember } from "./rpc/remove-member.ts";
import { renewOperations } from "./rpc/renew-operations.ts";
import { returnRequests } from "./rpc/return-requests.ts";
import { revokeClient } from "./rpc/revoke-client.ts";
import { revokeInvitation } from "./rpc/revoke-invitation.ts";
import { revokeKey } from "./rpc/revoke-key.ts";
import { rotateKey } from "./rpc/rotate-key.ts";
import { signInByIssuer } from "./rpc/sign-in-by-issuer.ts";
import { signIn } from "./rpc/sign-in.ts";
import { storeArtifact } from "./rpc/store-artifact.ts";
import { updateApp } from "./rpc/update-app.ts";
import { updateClient } from "./rpc/update-client.ts";
import { updateMember } from "./rpc/update-member.ts";
import { updateProperty } from "./rpc/update-property.ts";
import { findAnyProperty } from "./sql/properties.ts";

const migrations = join(import.meta.dirname, "migrations");

/** Creates the identity service. Its first start creates the demo properties with these keys. */
export function createIdentity(
  context: IdentityContext,
  options: { bootstrapKeys: BootstrapKeys; onBootstrap?: (keys: BootstrapKeys) => void },
): Service {
  const owner = new Owner();
  const members = { ...context, passwords: createPasswords(context.registry) };
  return {
    routes(router) {
      router.service(IdentityService, {
        authenticateKey: authenticateKey(context),
        createProperty: createProperty(context),
        updateProperty: updateProperty(context),
        listProperties: listProperties(context),
        createKey: createKey(context),
        listKeys: listKeys(context),
        revokeKey: revokeKey(context),
        rotateKey: rotateKey(context),
        getKey: getKey(context),
        describeCallers: describeCallers(context),
        leaseRequests: leaseRequests(context),
        returnRequests: returnRequests(context),
        listRateWindows: listRateWindows(context),
        noteKeyUse: noteKeyUse(context),
        claimOperations: claimOperations(context),
        renewOperations: renewOperations(context),
        finishOperations: finishOperations(context),
        forgetAnswers: forgetAnswers(context),
      });
      router.service(ClientService, {
        authenticateClient: authenticateClient(context),
        createClient: createClient(context),
        listClients: listClients(context),
        updateClient: updateClient(context),
        revokeClient: revokeClient(context),
      });
      router.service(MemberService, {
        createSetupLink: createSetupLink(members),
        inviteMember: inviteMember(members),
        listInvitations: listInvitations(members),
        revokeInvitation: revokeInvitation(members),
        getLink: getLink(members),
        acceptLink: acceptLink(members),
        signIn: signIn(members),
        signInByIssuer: signInByIssuer(members),
        authenticateSession: authenticateSession(members),
        confirmPassword: confirmPassword(members),
        listSessions: listSessions(members),
        endSession: endSession(members),
        listMembers: listMembers(members),
        updateMember: updateMember(members),
        removeMember: removeMember(members),
        changePassword: changePassword(members),
        recordAudit: recordAudit(members),
        listAudit: listAudit(members),
      });
      router.service(AppService, {
        createApp: createApp(context),
        getApp: getApp(context),
        listApps: listApps(context),
        updateApp: updateApp(context),
        addAppSecret: addAppSecret(context),
        removeAppSecret: removeAppSecret(context),
        getInstallation: getInstallation(context),
        listInstallations: listInstallations(context),
        endInstallation: endInstallation(context),
        listWebhookInstallations: listWebhookInstallations(context),
      });
      router.service(OAuthService, {
        authenticateToken: authenticateToken(context),
        findClient: findClient(context),
        installApp: installApp(context),
        findGrant: findGrant(context),
        endGrant: endGrant(context),
        storeArtifact: storeArtifact(context),
        findArtifact: findArtifact(context),
        consumeArtifact: consumeArtifact(context),
        deleteArtifact: deleteArtifact(context),
      });
    },
    findClient: findInternalClient(context),
    async start() {
      await migrate(context.database, "identity", migrations);
      if (await bootstrap(context, options.bootstrapKeys)) options.onBootstrap?.(options.bootstrapKeys);
      owner.own(repeat(forgetIntervalMs, context.log, "forget what is over", (signal) => forget(context, signal)));
    },
    async checkReady() {
      await findAnyProperty(context.database, []);
    },
    close: () => owner.close(),
  };
}
