import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetPrivacyRequestResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { ProfileContext } from "../context.ts";
import { toPrivacyRequest } from "../privacy/mapping.ts";
import { findRequest } from "../privacy/reading.ts";

export function getPrivacyRequest(context: ProfileContext): ServiceImpl<typeof PrivacyService>["getPrivacyRequest"] {
  return async (request) =>
    create(GetPrivacyRequestResponseSchema, { request: toPrivacyRequest(await findRequest(context, request)) });
}
