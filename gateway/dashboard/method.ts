/** What the allow-list says of a method. */
import type { DescMethod, DescService, Message, MessageShape } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clients } from "../clients.ts";
import type { Viewer } from "./sessions.ts";

/** A call of a member. */
export interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
  viewer: Viewer;
  /** The value of her cookie. */
  token: string;
  /** What she may do where the call acts. */
  rights: ReadonlySet<string>;
  clients: Clients;
}

/**
 * Where a right must be held: in the property that the request names; in all properties; in the named one, or in all if
 * the request names none; or nowhere, for what every member does with her own account.
 */
export type Where = "property" | "everywhere" | "either" | "own";

export interface Rule<Input, Output> {
  where: Where;
  /** Null exactly for methods of her own account. */
  right: string | null;
  /** The method changes nothing: it is cancelled when the browser goes away. */
  reads?: true;
  /** It needs a sign-in or a password of the last minutes. */
  fresh?: true;
  /** It leaves an audit entry with these ids. @param output undefined when it was refused or failed. */
  audit?: (input: Input, output: Output | undefined) => (string | undefined)[];
  /** Overwrites fields that are not the browser's to say, and refuses what the role does not allow. */
  prepare?: (input: Input, exchange: Exchange) => void | Promise<void>;
  /** Hides what the browser must not see. Every output that can hold values of identifiers has one. */
  mask?: (output: Output) => void;
}

export const reading = <Right extends string>(right: Right) => ({ where: "property", right, reads: true }) as const;
export const writing = <Right extends string>(right: Right) => ({ where: "property", right }) as const;
export const managing = <Right extends string>(right: Right) => ({ where: "everywhere", right }) as const;

/** A method that the dashboard may call. */
export interface Method extends Rule<Message, Message> {
  desc: DescMethod;
  /** Relative to `/dashboard/rpc/`. */
  path: string;
  call(exchange: Exchange, input: Message, options: CallOptions): Promise<Message>;
}

type Unary = (input: Message, options: CallOptions) => Promise<Message>;
type Methods<S extends DescService> = S["method"];
type InputOf<M extends DescMethod> = MessageShape<M["input"]>;
type OutputOf<M extends DescMethod> = MessageShape<M["output"]>;

/**
 * Makes methods of a service's rules.
 * @param client who is called.
 * @param prefix tells apart services that several processes have.
 */
export function methodsOf<S extends DescService>(
  service: S,
  client: (exchange: Exchange) => Partial<Client<S>>,
  rules: { [Name in keyof Methods<S>]?: Rule<InputOf<Methods<S>[Name]>, OutputOf<Methods<S>[Name]>> },
  prefix = "",
): Method[] {
  return Object.entries(rules).map(([name, rule]) => {
    const desc = service.method[name];
    if (!desc) throw new Error(`${service.typeName} has no method ${name}`);
    const call: Method["call"] = async (exchange, input, options) => {
      const method = (client(exchange) as Record<string, Unary | undefined>)[name];
      if (!method) throw new Error(`nobody answers ${name}`);
      return method(input, options);
    };
    return {
      ...(rule as unknown as Rule<Message, Message>),
      desc,
      path: `${prefix}${service.typeName}/${desc.name}`,
      call,
    };
  });
}
