/**
 * Who may call the RPCs of a process: whoever has the internal credential may call everything, and an internal client
 * the methods that it was given. It is decided by the headers, before the body is read.
 */
import { Code, createClient, type Transport } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import { ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { hashClientToken, isClientToken } from "../values/client-token.ts";
import { credentialCheck, systemCall } from "./interceptors.ts";
import { fromConnectError } from "./errors.ts";
import { DaybookError } from "../values/errors.ts";

/** An internal client, with the full names of the methods that it may call. */
interface AdmittedClient {
  name: string;
  methods: readonly string[];
}

/** Finds the client of a token's hash; undefined when there is none. Rejects while nobody can tell. */
export type FindClient = (secretHash: Buffer) => Promise<AdmittedClient | undefined>;

/** The refusal of a call. */
export interface Refusal {
  code: Code.Unauthenticated | Code.PermissionDenied | Code.Unavailable;
  message: string;
}

/** Who calls: a client by its name, or a process of the mesh. */
type Admission = { refusal: Refusal; client?: string } | { refusal?: undefined; client?: string };

/** How long an answer about a token is used: so long a revoked client may go on. */
const answerAgeMsMax = 5_000;
const clientsMax = 1_000;
const strangersMax = 10_000;
/** Questions to the identity service under way at a time. */
const questionsMax = 100;
const questionTimeoutMs = 3_000;

interface Answer {
  client: AdmittedClient | undefined;
  methods: ReadonlySet<string>;
}

const stranger: Refusal = { code: Code.Unauthenticated, message: "this service answers only its own mesh" };
const unknown: Refusal = { code: Code.Unauthenticated, message: "the token is not that of an internal client" };
const nobodyKnows: Refusal = { code: Code.Unavailable, message: "the token cannot be checked now; try again" };

/**
 * @param method the full name of the method that is called, such as `daybook.event.v1.EventService/ListEvents`;
 * undefined for a path that is none.
 */
export type Admit = (authorization: string | undefined, method: string | undefined) => Promise<Admission>;

/** @param find without it there are no clients. */
export function createAdmission(credentials: readonly string[], find: FindClient | undefined): Admit {
  const isOurs = credentialCheck(credentials);
  // Two caches, so that guesses do not displace clients.
  const known = new LRUCache<string, Answer>({ max: clientsMax, ttl: answerAgeMsMax });
  const strangers = new LRUCache<string, Answer>({ max: strangersMax, ttl: answerAgeMsMax });
  const questions = new Map<string, Promise<Answer>>();

  async function ask(token: string, findClient: FindClient): Promise<Answer> {
    const hash = hashClientToken(token);
    const key = hash.toString("base64url");
    const answered = known.get(key) ?? strangers.get(key) ?? questions.get(key);
    if (answered) return answered;
    if (questions.size >= questionsMax) throw new Error("too many tokens are being checked");
    const askedAtMs = performance.now();
    const question = findClient(hash)
      .then((client) => {
        const answer = { client, methods: new Set(client?.methods) };
        // From when it was asked: the client may have been revoked since.
        (client ? known : strangers).set(key, answer, { start: askedAtMs });
        return answer;
      })
      .finally(() => questions.delete(key));
    questions.set(key, question);
    return question;
  }

  return async (authorization, method) => {
    if (isOurs(authorization)) return {};
    const token = authorization?.startsWith("Bearer ") ? authorization.slice("Bearer ".length) : "";
    if (!find || !isClientToken(token)) return { refusal: stranger };
    let answer: Answer;
    try {
      answer = await ask(token, find);
    } catch {
      return { refusal: nobodyKnows };
    }
    const { client, methods } = answer;
    if (!client) return { refusal: unknown };
    if (method !== undefined && methods.has(method)) return { client: client.name };
    const message = `the client ${client.name} may not call ${method ?? "this path"}`;
    return { refusal: { code: Code.PermissionDenied, message }, client: client.name };
  };
}

/** Asks the identity service about clients. */
export function askIdentity(transport: Transport): FindClient {
  const identity = createClient(ClientService, transport);
  return async (secretHash) => {
    try {
      return await identity.authenticateClient({ secretHash }, systemCall("admission", questionTimeoutMs));
    } catch (error) {
      const failure = fromConnectError(error);
      if (failure instanceof DaybookError && failure.code === "invalid_api_key") return undefined;
      throw failure;
    }
  };
}
