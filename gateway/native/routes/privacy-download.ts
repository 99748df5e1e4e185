import Type from "typebox";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { callOf } from "../../plugins/request.ts";
import { exampleIds } from "../examples.ts";
import { operation, route } from "../operation.ts";

const exampleText = [
  { kind: "manifest", format: 1, privacy_request_id: exampleIds.privacyRequest, as_of: "2026-11-02T09:30:02.000000Z" },
  { kind: "profile", data: { id: exampleIds.profile, object: "profile", status: "active" } },
  { kind: "end", counts: { manifest: 1, profile: 1 }, lines: 2, bytes: 214, sha256: "0f3c…" },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

const download = operation("privacy:export", {
  id: "downloadPrivacyRequest",
  tag: "Privacy",
  summary: "Download what is kept of a person",
  description:
    "The stream of a completed access request: one JSON object a line, in gzip if `Accept-Encoding` asks for it. The " +
    "first line is the manifest; then each profile, identifier (with its full value, also without the scope " +
    "identifiers:read_value), merge, tag change and event has a line; the last has the kind `end`, the number of lines " +
    "of each kind, and the SHA-256 of all bytes before it. A stream without it was cut. It holds what was on record at " +
    "`as_of`, can be had for 7 days, and ends when the person is erased. Each download leaves an entry in the audit.",
  streams: true,
  data: Type.String({ description: "Lines of JSON" }),
  success: { 200: "The stream" },
  errors: ["invalid_id", "resource_not_found", "not_ready", "download_expired", "invalid_state_transition"],
  examples: { data: exampleText },
});

export const privacyDownloadRoutes = [
  route("GET", "/privacy-requests/:id/download", download, (exchange) => {
    const { request, reply, propertyId, caller, context, ids } = exchange;
    const services = context.bindServices(callOptions(callOf(request)));
    const reader = { actorId: caller.callerId };
    return context.exports.send({ request, reply, services, propertyId, reader }, ids.id);
  }),
];
