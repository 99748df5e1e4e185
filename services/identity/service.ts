import { join } from "node:path";
import { ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { migrate } from "#shared/database/migrate.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import type { Service } from "#shared/process/service.ts";
import { bootstrap, type BootstrapKeys } from "./bootstrap.ts";
import type { IdentityContext } from "./context.ts";
import { forget, forgetIntervalMs } from "./maintenance.ts";
import { createPasswords } from "./members/passwords.ts";
import { findClient } from "./clients.ts";
import { acceptLink } from "./rpc/accept-link.ts";
import { authenticateClient } from "./rpc/authenticate-client.ts";
import { authenticateKey } from "./rpc/authenticate-key.ts";
import { authenticateSession } from "./rpc/authenticate-session.ts";
import { changePassword } from "./rpc/change-password.ts";
import { claimOperations } from "./rpc/claim-operations.ts";
import { confirmPassword } from "./rpc/confirm-password.ts";
import { createClient } from "./rpc/create-client.ts";
import { createKey } from "./rpc/create-key.ts";
import { createProperty } from "./rpc/create-property.ts";
import { createSetupLink } from "./rpc/create-setup-link.ts";
import { endSession } from "./rpc/end-session.ts";
import { finishOperations } from "./rpc/finish-operations.ts";
import { forgetAnswers } from "./rpc/forget-answers.ts";
import { getKey } from "./rpc/get-key.ts";
import { getLink } from "./rpc/get-link.ts";
import { inviteMember } from "./rpc/invite-member.ts";
import { leaseRequests } from "./rpc/lease-requests.ts";
import { listAudit } from "./rpc/list-audit.ts";
import { listClients } from "./rpc/list-clients.ts";
import { listInvitations } from "./rpc/list-invitations.ts";
import { listKeys } from "./rpc/list-keys.ts";
import { listMembers } from "./rpc/list-members.ts";
import { listProperties } from "./rpc/list-properties.ts";
import { listSessions } from "./rpc/list-sessions.ts";
import { listRateWindows } from "./rpc/list-rate-windows.ts";
import { noteKeyUse } from "./rpc/note-key-use.ts";
import { recordAudit } from "./rpc/record-audit.ts";
import { removeMember } from "./rpc/remove-member.ts";
import { renewOperations } from "./rpc/renew-operations.ts";
import { returnRequests } from "./rpc/return-requests.ts";
import { revokeClient } from "./rpc/revoke-client.ts";
import { revokeInvitation } from "./rpc/revoke-invitation.ts";
import { revokeKey } from "./rpc/revoke-key.ts";
import { rotateKey } from "./rpc/rotate-key.ts";
import { signInByIssuer } from "./rpc/sign-in-by-issuer.ts";
import { signIn } from "./rpc/sign-in.ts";
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
    },
    findClient: findClient(context),
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
