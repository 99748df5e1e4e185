import { create } from "@bufbuild/protobuf";
import {
  CreatePrivacyRequestRequestSchema,
  PrivacyRequestType,
  type CreatePrivacyRequestRequest,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { identifierProblem, identifierTypes, toPhone } from "../convert/identifiers.ts";
import { toId } from "../convert/ids.ts";
import { exampleDeletionJob } from "../examples.ts";
import { Faults } from "../faults.ts";
import { operation, route } from "../operation.ts";
import { noSuchProfile } from "../profiles.ts";
import { Nothing } from "../resources.ts";
import { DataPrivacyDeletionJob } from "../schemas.ts";
import { createChecker } from "../validation.ts";

const pointer = "/data/attributes/profile/data";
const jobBody = createChecker(DataPrivacyDeletionJob, "data-privacy-deletion-job");

const requestDeletion = operation("privacy:delete", {
  id: "compatRequestProfileDeletion",
  summary: "Have a person erased",
  description:
    "The person of exactly one of email, phone_number and id, all of whose profiles are erased, behind the answer: an " +
    "erasure among the privacy requests of the native surface. An email or phone that nobody has is taken too; an id " +
    "that nobody has is 404.",
  query: {},
  body: { schema: DataPrivacyDeletionJob, read: readDeletion },
  example: exampleDeletionJob,
  data: Nothing,
  hasNoAnswer: true,
  success: { 202: "It is taken; the answer is empty" },
});

export const deletionJobRoutes = [
  route("POST", "/data-privacy-deletion-jobs", requestDeletion, async (exchange) => {
    const { request, reply, propertyId, caller, services, body } = exchange;
    const wanted = Object.assign(body, { propertyId, createdBy: caller.callerId }, operationOf(request));
    await services.privacy
      .createPrivacyRequest(wanted, (param) => pointer + toPointer(param, body))
      .catch((error: unknown) => {
        const isNobody = error instanceof DaybookError && error.code === "resource_not_found";
        throw isNobody ? noSuchProfile(body.profileId ?? "", `${pointer}/id`) : error;
      });
    return reply.code(202).send();
  }),
];

function readDeletion(value: unknown): CreatePrivacyRequestRequest {
  const { id, attributes } = jobBody.read(value).data.attributes.profile.data;
  const faults = new Faults();
  // As elsewhere here, what is empty is not there.
  const given = Object.entries({ ...attributes, id }).flatMap(([field, text]) =>
    typeof text === "string" && text.trim() !== "" ? [{ field, text }] : [],
  );
  const [only] = given;
  const asked = { type: PrivacyRequestType.ERASURE };
  if (!only || given.length > 1) {
    faults.add(pointer, `Send exactly one of email, phone_number and id; got ${given.length} of them.`);
  } else if (only.field === "id") {
    const profileId = toId("prof", only.text.trim());
    if (profileId === undefined) throw noSuchProfile(only.text, `${pointer}/id`);
    return create(CreatePrivacyRequestRequestSchema, { ...asked, profileId });
  } else {
    const field = only.field as "email" | "phone_number";
    const isPhone = field === "phone_number";
    const normal = isPhone ? toPhone(only.text) : only.text;
    const problem = normal === undefined ? "Invalid phone number" : identifierProblem(field, normal);
    if (problem !== undefined) faults.add(`${pointer}/attributes/${field}`, problem);
    const identifiers = [{ type: identifierTypes[field], value: normal ?? "" }];
    if (problem === undefined) return create(CreatePrivacyRequestRequestSchema, { ...asked, identifiers });
  }
  faults.check();
  throw new Error("a body without a fault was not read");
}

function toPointer(param: string, { identifiers }: CreatePrivacyRequestRequest): string {
  if (!param.startsWith("identifiers")) return "/id";
  return `/attributes/${identifiers[0]?.type === "phone" ? "phone_number" : "email"}`;
}
