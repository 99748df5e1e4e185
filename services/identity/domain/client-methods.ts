/** What an internal client may call: methods of RPC services, one by one or with a wildcard. */
import type { DescService } from "@bufbuild/protobuf";
import { BusService } from "#proto/daybook/common/v1/bus_pb.ts";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { isLongerThan } from "#shared/values/text.ts";

const patternsMax = 100;
const patternLengthMax = 200;

const { method: identity } = IdentityService;
/** Services of which every method is given by its name. */
const namedServices = [ClientService, MemberService, AppService, OAuthService, WebhookService, PrivacyService];
/**
 * Methods that manage properties, keys, clients, members, apps, webhooks and privacy requests. No wildcard gives them:
 * nobody gets them unseen.
 */
const onlyByName = new Set<object>([
  identity.createProperty,
  identity.updateProperty,
  identity.listProperties,
  identity.createKey,
  identity.listKeys,
  identity.getKey,
  identity.describeCallers,
  identity.rotateKey,
  identity.revokeKey,
  ...namedServices.flatMap(({ methods }) => methods),
]);

const services: readonly DescService[] = [
  IdentityService,
  ...namedServices,
  ProfileService,
  EventService,
  RejectedWriteService,
  MetricService,
  BusService,
  HealthService,
];
/** The methods that each pattern gives. */
const methodsOf = new Map<string, readonly string[]>(
  services.flatMap(({ typeName, methods }) => {
    const nameOf = ({ name }: { name: string }): string => `${typeName}/${name}`;
    const wide = methods.filter((method) => !onlyByName.has(method)).map(nameOf);
    const single = methods.map((method): [string, string[]] => [nameOf(method), [nameOf(method)]]);
    return wide.length === 0 ? single : [[`${typeName}/*`, wide], ...single];
  }),
);

/**
 * Checks the methods that a client is given.
 * @returns each pattern once.
 * @throws DaybookError that names each pattern that no service has.
 */
export function readMethods(patterns: readonly string[]): string[] {
  if (patterns.length === 0 || patterns.length > patternsMax) {
    throw new DaybookError("parameter_invalid", `A client has 1 to ${patternsMax} methods.`, { param: "methods" });
  }
  const errors = patterns.flatMap((pattern, index): FieldError[] => {
    if (methodsOf.has(pattern)) return [];
    const shown = isLongerThan(pattern, patternLengthMax) ? "a text that is too long" : JSON.stringify(pattern);
    const named = namedServices.find(({ typeName }) => pattern === `${typeName}/*`);
    const message =
      named !== undefined
        ? `The methods of ${named.typeName} are given by their names only.`
        : `No service has the method ${shown}. Write it as ${EventService.typeName}/ListEvents, ` +
          `or ${EventService.typeName}/* for all of a service.`;
    return [{ code: "parameter_invalid", message, param: `methods[${index}]` }];
  });
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  return [...new Set(patterns)];
}

/** Every method that patterns give. What a stored pattern named and is there no more gives nothing. */
export function expandMethods(patterns: readonly string[]): string[] {
  return [...new Set(patterns.flatMap((pattern) => methodsOf.get(pattern) ?? []))];
}
