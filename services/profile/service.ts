import { join } from "node:path";
import { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { forgetJobs } from "#shared/jobs/jobs.ts";
import { migrate } from "#shared/database/migrate.ts";
import { createOutboxRelay } from "#shared/outbox/outbox.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import type { Service, ServiceContext } from "#shared/process/service.ts";
import { createAttributeSchemas } from "./attribute-schemas.ts";
import type { ProfileContext } from "./context.ts";
import { createImportJobs, importJobs } from "./imports.ts";
import { forgetIntervalMs, forgetExpired } from "./maintenance.ts";
import { measurePrivacyRequests } from "./privacy/metrics.ts";
import { createPrivacyWorker } from "./privacy/worker.ts";
import { lastSweepDelaySecondsDefault } from "./redaction.ts";
import { addIdentifier } from "./rpc/add-identifier.ts";
import { cancelPrivacyRequest } from "./rpc/cancel-privacy-request.ts";
import { countPrivacyRequests } from "./rpc/count-privacy-requests.ts";
import { createImportJob } from "./rpc/create-import-job.ts";
import { createPrivacyRequest } from "./rpc/create-privacy-request.ts";
import { createProfile as create } from "./rpc/create-profile.ts";
import { deleteSuppression } from "./rpc/delete-suppression.ts";
import { findProfiles } from "./rpc/find-profiles.ts";
import { getAttributeSchema } from "./rpc/get-attribute-schema.ts";
import { getImportJob } from "./rpc/get-import-job.ts";
import { getMergedProfiles } from "./rpc/get-merged-profiles.ts";
import { getPrivacyRequest } from "./rpc/get-privacy-request.ts";
import { getProfiles } from "./rpc/get-profiles.ts";
import { listImportedProfiles } from "./rpc/list-imported-profiles.ts";
import { listImportErrors } from "./rpc/list-import-errors.ts";
import { listImportJobs } from "./rpc/list-import-jobs.ts";
import { listMerges } from "./rpc/list-merges.ts";
import { listPrivacyRequests } from "./rpc/list-privacy-requests.ts";
import { listProfiles } from "./rpc/list-profiles.ts";
import { listSuppressions } from "./rpc/list-suppressions.ts";
import { mergeProfiles } from "./rpc/merge-profiles.ts";
import { openExport } from "./rpc/open-export.ts";
import { previewMerge } from "./rpc/preview-merge.ts";
import { promoteIdentifier } from "./rpc/promote-identifier.ts";
import { redactProfile } from "./rpc/redact-profile.ts";
import { removeIdentifier } from "./rpc/remove-identifier.ts";
import { reportPrivacyWork } from "./rpc/report-privacy-work.ts";
import { resolveProfiles } from "./rpc/resolve-profiles.ts";
import { retryPrivacyRequest } from "./rpc/retry-privacy-request.ts";
import { setProfileRefs } from "./rpc/set-profile-refs.ts";
import { updateProfile } from "./rpc/update-profile.ts";
import { updateTags } from "./rpc/update-tags.ts";
import { upsertProfile } from "./rpc/upsert-profile.ts";
import { upsertProfiles } from "./rpc/upsert-profiles.ts";
import { probe } from "./sql/profiles.ts";

const migrations = join(import.meta.dirname, "migrations");

export function createProfile(
  serviceContext: ServiceContext,
  {
    outboxBytesMax,
    redactionSweepSeconds = lastSweepDelaySecondsDefault,
  }: { outboxBytesMax?: number | undefined; redactionSweepSeconds?: number | undefined } = {},
): Service {
  const owner = new Owner();
  const relay = createOutboxRelay({ ...serviceContext, schema: "profile", outboxBytesMax });
  const schemas = owner.own(createAttributeSchemas(serviceContext));
  const context: ProfileContext = { ...serviceContext, relay, schemas, redactionSweepSeconds };
  const imports = createImportJobs(context);
  const privacy = owner.own(createPrivacyWorker(context));
  measurePrivacyRequests(context);
  return {
    routes(router) {
      router.service(ProfileService, {
        resolveProfiles: resolveProfiles(context),
        createProfile: create(context),
        upsertProfile: upsertProfile(context),
        upsertProfiles: upsertProfiles(context),
        updateProfile: updateProfile(context),
        getProfiles: getProfiles(context),
        listProfiles: listProfiles(context),
        listMerges: listMerges(context),
        findProfiles: findProfiles(context),
        addIdentifier: addIdentifier(context),
        promoteIdentifier: promoteIdentifier(context),
        removeIdentifier: removeIdentifier(context),
        mergeProfiles: mergeProfiles(context),
        previewMerge: previewMerge(context),
        getMergedProfiles: getMergedProfiles(context),
        redactProfile: redactProfile(context),
        updateTags: updateTags(context),
        setProfileRefs: setProfileRefs(context),
        getAttributeSchema: getAttributeSchema(context),
        createImportJob: createImportJob(imports),
        getImportJob: getImportJob(context),
        listImportJobs: listImportJobs(context),
        listImportedProfiles: listImportedProfiles(context),
        listImportErrors: listImportErrors(context),
      });
      router.service(PrivacyService, {
        createPrivacyRequest: createPrivacyRequest(context, privacy),
        getPrivacyRequest: getPrivacyRequest(context),
        listPrivacyRequests: listPrivacyRequests(context),
        retryPrivacyRequest: retryPrivacyRequest(context, privacy),
        cancelPrivacyRequest: cancelPrivacyRequest(context),
        openExport: openExport(context),
        listSuppressions: listSuppressions(context),
        deleteSuppression: deleteSuppression(context),
        reportPrivacyWork: reportPrivacyWork(context, privacy),
        countPrivacyRequests: countPrivacyRequests(context),
      });
    },
    outbox: relay,
    async start() {
      await migrate(context.database, "profile", migrations);
      // Before the relay starts, so that a message of the outbox finds its consumer.
      await context.bus.subscribe("profile_imports", importJobs.subject, imports.takeDue);
      owner.own(relay).start();
      privacy.start();
      owner.own(repeat(forgetIntervalMs, context.log, "forget keys", (signal) => forgetExpired(context, signal)));
      owner.own(
        repeat(forgetIntervalMs, context.log, "forget import jobs", (signal) =>
          forgetJobs(context, importJobs, signal),
        ),
      );
    },
    async checkReady() {
      await probe(context.database, []);
    },
    close: () => owner.close(),
  };
}
