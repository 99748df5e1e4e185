/** A client of the public API that returns status, headers and body unchanged. */

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // Tests read answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface RequestOptions {
  headers?: Record<string, string>;
}

/** Calls with one key, or without a key. */
export interface Api {
  get: (path: string, options?: RequestOptions) => Promise<Answer>;
  /** `body` is sent as JSON; text and bytes are sent as they are. */
  post: (path: string, body: unknown, options?: RequestOptions) => Promise<Answer>;
  patch: (path: string, body: unknown, options?: RequestOptions) => Promise<Answer>;
  delete: (path: string, options?: RequestOptions) => Promise<Answer>;
  request(method: string, path: string, options?: RequestOptions & { body?: RequestInit["body"] }): Promise<Answer>;
}

/** Without a secret, requests have no key. */
export function createApi(baseUrl: string, secret?: string): Api {
  const request: Api["request"] = async (method, path, { headers = {}, body } = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    // HEAD answers have the Content-Type of GET, but no body.
    const isJson = text !== "" && /^application\/(?:vnd\.api\+)?json/.test(response.headers.get("content-type") ?? "");
    const { status } = response;
    return { status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined };
  };
  const send =
    (method: string): Api["post"] =>
    (path, body, { headers = {} } = {}) => {
      const raw = typeof body === "string" || body instanceof Uint8Array;
      return request(method, path, {
        headers: { "content-type": "application/json", ...headers },
        body: raw ? (body as string) : JSON.stringify(body),
      });
    };
  return {
    request,
    get: (path, options) => request("GET", path, options),
    delete: (path, options) => request("DELETE", path, options),
    post: send("POST"),
    patch: send("PATCH"),
  };
}
