/** Serves the methods of the allow-list over the Connect protocol: unary calls, as JSON or binary. */
import { fromBinary, fromJsonString, toBinary, toJsonString, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { isId } from "#shared/values/ids.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import { goneSignal } from "../surface/exchange.ts";
import { idsOf } from "./audit.ts";
import { callOf } from "./calls.ts";
import type { DashboardContext } from "./context.ts";
import { sendRpcError } from "./errors.ts";
import type { Exchange, Method } from "./method.ts";
import { serviceMethods } from "./methods.ts";
import { ownMethods } from "./own-methods.ts";
import { missingRight, noSuchProperty, signInAgain, signInRequired, unknownMethod } from "./refusal.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { isFresh, rightsEverywhere, rightsIn, type Viewer } from "./sessions.ts";

const base = "/dashboard/rpc/";
// Types that a form or a script of another site cannot send without asking first.
const mediaPattern = /^application\/(json|proto)\s*(?:;|$)/i;
const jsonPattern = /^application\/json/i;
const media = { json: "application/json; charset=utf-8", proto: "application/proto" } as const;

export function rpcRoutes(context: DashboardContext) {
  return async (app: FastifyInstance): Promise<void> => {
    const addMethodNotAllowed = collectMethods(app);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      ["application/json", "application/proto"],
      { parseAs: "buffer" },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    app.setErrorHandler((error, request, reply) => sendRpcError(context.log, error, request, reply));
    for (const method of [...serviceMethods, ...ownMethods(context)]) addMethod(app, context, method);
    addMethodNotAllowed();
    app.all(
      `${base}*`,
      {
        config: { isRefusal: true },
        onRequest: async () => {
          throw unknownMethod();
        },
      },
      () => undefined,
    );
  };
}

function addMethod(app: FastifyInstance, context: DashboardContext, method: Method): void {
  app.post(`${base}${method.path}`, {
    // Before the body is read.
    onRequest: async (request, reply) => {
      checkSameOrigin(request);
      const type = request.headers["content-type"] ?? "";
      if (!mediaPattern.test(type)) {
        const message = "`Content-Type` must be application/json or application/proto.";
        throw new DaybookError("unsupported_media_type", message, { param: "Content-Type" });
      }
      await context.entrance.enter(request, reply);
    },
    handler: async (request, reply) => {
      const isJson = jsonPattern.test(request.headers["content-type"] ?? "");
      const output = await answer(context, method, request, reply, isJson);
      const { output: desc } = method.desc;
      return isJson
        ? reply.type(media.json).send(toJsonString(desc, output))
        : reply.type(media.proto).send(Buffer.from(toBinary(desc, output)));
    },
  });
}

async function answer(
  context: DashboardContext,
  method: Method,
  request: FastifyRequest,
  reply: FastifyReply,
  isJson: boolean,
): Promise<Message> {
  const { token } = context.entrance.visitOf(request);
  let { viewer } = context.entrance.visitOf(request);
  const input = readMessage(method.desc.input, request.body as Buffer | undefined, isJson);
  if (method.audit) {
    // Not a remembered one: what is sensitive is decided by the roles of now.
    const now = await context.sessions.find(token, 0);
    if (!now) throw signInRequired();
    viewer = now;
  }
  const propertyId = propertyOf(method, input);
  const exchange: Exchange = { request, reply, viewer, token, rights: new Set(), clients: context.clients };
  if (!method.audit)
    return act(context, method, { ...exchange, rights: allowedRights(method, viewer, propertyId) }, input);
  return audited(context, method, exchange, input, propertyId);
}

async function audited(
  context: DashboardContext,
  method: Method,
  exchange: Exchange,
  input: Message,
  propertyId: string | undefined,
): Promise<Message> {
  const { audit, sessions } = context;
  let output: Message | undefined;
  try {
    exchange.rights = allowedRights(method, exchange.viewer, propertyId);
    audit.announce(exchange, method, propertyId);
    output = await act(context, method, exchange, input);
    return output;
  } finally {
    // What was done may have changed the session or the roles.
    sessions.forget(exchange.token);
    await audit.record(exchange, method, {
      ...(propertyId?.startsWith("prop_") === true && isId(propertyId) ? { propertyId } : {}),
      targetIds: idsOf(method.audit?.(input, output) ?? []),
      succeeded: output !== undefined,
    });
  }
}

async function act(
  { callTimeoutMs }: DashboardContext,
  method: Method,
  exchange: Exchange,
  input: Message,
): Promise<Message> {
  const { request, reply, viewer } = exchange;
  if (method.fresh && !isFresh(viewer)) throw signInAgain();
  await method.prepare?.(input, exchange);
  const signal = method.reads && !method.audit ? goneSignal(reply) : undefined;
  const output = await method.call(exchange, input, callOptions(callOf(request, viewer), callTimeoutMs, signal));
  method.mask?.(output);
  return output;
}

/** The property that a request names. */
function propertyOf({ where }: Method, input: Message): string | undefined {
  if (where === "own" || where === "everywhere") return undefined;
  return (input as { propertyId?: string }).propertyId;
}

/**
 * What a member may do where a method acts.
 * @throws DaybookError `resource_not_found` for a property in which she has no role, and `missing_scope`
 */
function allowedRights({ where, right }: Method, viewer: Viewer, propertyId: string | undefined): ReadonlySet<string> {
  if (right === null) return rightsEverywhere(viewer);
  const isNamed = where === "property" || (where === "either" && propertyId !== undefined);
  const rights = isNamed ? rightsIn(viewer, propertyId ?? "") : rightsEverywhere(viewer);
  if (!rights) throw noSuchProperty();
  if (!rights.has(right)) throw missingRight(right);
  return rights;
}

/** @throws DaybookError `invalid_json` or `bad_request` */
function readMessage(desc: DescMessage, body: Buffer | undefined, isJson: boolean): Message {
  try {
    return isJson ? fromJsonString(desc, body?.toString() ?? "") : fromBinary(desc, body ?? Buffer.alloc(0));
  } catch (cause) {
    const what = `The body must be a ${desc.name} in ${isJson ? "the JSON form of protobuf" : "protobuf"}`;
    const reason = isJson ? `: ${(cause as Error).message}` : "";
    throw new DaybookError(isJson ? "invalid_json" : "bad_request", `${what}${reason}.`, { cause });
  }
}
