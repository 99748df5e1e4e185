/** Clients of services. Their calls throw DaybookError. */
import type { DescService } from "@bufbuild/protobuf";
import { createClient, type CallOptions, type Client, type Transport } from "@connectrpc/connect";
import { DaybookError } from "../values/errors.ts";
import { fromConnectError } from "./errors.ts";

type Method = (input: unknown, options: CallOptions) => Promise<unknown>;

/** Makes a client for unary methods. A wrapper converts errors, because Connect wraps what an interceptor throws. */
export function createServiceClient<S extends DescService>(service: S, transport: Transport): Client<S> {
  const methods = Object.entries(createClient(service, transport)) as unknown as [string, Method][];
  const wrapped = methods.map(([name, method]): [string, Method] => [
    name,
    async (input, options) => {
      try {
        return await method(input, options);
      } catch (error) {
        throw fromConnectError(error);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as Client<S>;
}

/**
 * A client with fixed call options, so that its methods take none.
 * @param rename maps the fields of a thrown error to the names that the caller knows.
 */
export type BoundClient<C> = {
  [M in keyof C]: C[M] extends (input: infer Input, options?: CallOptions) => Promise<infer Output>
    ? (input: Input, rename?: (param: string) => string) => Promise<Output>
    : never;
};

/** Prepares a client so that binding options to it costs one small object. */
export function bindable<C extends object>(client: C): (options: CallOptions) => BoundClient<C> {
  class Bound {
    readonly options: CallOptions;

    constructor(options: CallOptions) {
      this.options = options;
    }
  }
  for (const [name, method] of Object.entries(client) as [string, Method][]) {
    Object.defineProperty(Bound.prototype, name, {
      value(this: Bound, input: unknown, rename?: (param: string) => string) {
        const response = method(input, this.options);
        return rename ? response.catch((error: unknown) => throwRenamed(error, rename)) : response;
      },
    });
  }
  return (options) => new Bound(options) as unknown as BoundClient<C>;
}

function throwRenamed(error: unknown, rename: (param: string) => string): never {
  throw error instanceof DaybookError ? error.withParams(rename) : error;
}
