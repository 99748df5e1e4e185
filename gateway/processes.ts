/** The processes of Daybook, as the gateway knows them. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { ProcessSchema, type Process } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import { instance } from "#shared/process/instance.ts";
import { version } from "#shared/process/version.ts";
import { createServiceClient } from "#shared/rpc/clients.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { replicasOf } from "#shared/rpc/transport.ts";
import { toTimestamp } from "#shared/values/time.ts";

// A process that hangs is not ready.
const answerTimeoutMs = 2_000;
/** The service that each transport of the gateway leads to. */
const serviceOf = {
  identity: "identity",
  profiles: "profile",
  events: "event",
  metrics: "metric",
  webhooks: "webhook",
} as const;

/** Asks all at once. @returns this gateway, then the replicas of the services by name and address. */
export async function describeProcesses(transports: Record<keyof typeof serviceOf, Transport>): Promise<Process[]> {
  const gateway = create(ProcessSchema, {
    name: "gateway",
    ready: true,
    version,
    startedAt: toTimestamp(instance.startedAt),
    instanceId: instance.id,
  });
  const services = (Object.keys(serviceOf) as (keyof typeof serviceOf)[]).map((key) =>
    describeService(serviceOf[key], transports[key]),
  );
  const described = (await Promise.all(services)).flat();
  const placeOf = ({ name, address }: Process): string => `${name} ${address ?? ""}`;
  return [gateway, ...described.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))];
}

interface Place {
  address?: string;
  transport: Transport;
}

async function describeService(name: string, transport: Transport): Promise<Process[]> {
  try {
    const replicas: Place[] = (await inTime(replicasOf(transport))) ?? [{ transport }];
    return await Promise.all(replicas.map((replica) => describeReplica(name, replica.transport, replica.address)));
  } catch (error) {
    return [create(ProcessSchema, { name, ready: false, reason: reasonOf(error) })];
  }
}

async function describeReplica(name: string, transport: Transport, address: string | undefined): Promise<Process> {
  const place: MessageInitShape<typeof ProcessSchema> = { name, ...(address === undefined ? {} : { address }) };
  try {
    const client = createServiceClient(HealthService, transport);
    const answer = await client.checkHealth({}, systemCall("gateway", answerTimeoutMs));
    const { instanceId, startedAt } = answer;
    return create(ProcessSchema, { ...place, ready: true, version: answer.version, startedAt, instanceId });
  } catch (error) {
    return create(ProcessSchema, { ...place, ready: false, reason: reasonOf(error) });
  }
}

/** Rejects when a name is looked up for too long. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("its name could not be looked up in time")), answerTimeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Why a process is not ready, for operators. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof ConnectError) return cause.rawMessage;
  return cause instanceof Error ? cause.message : String(cause);
}
