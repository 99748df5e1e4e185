/** A client of the public API that hides nothing: status, headers and body as they came. */

/** What came back. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // The tests look at answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** Extra words for one request. */
export interface RequestOptions {
  headers?: Record<string, string>;
}

/** Calls with one key. */
export interface Api {
  get: (path: string, options?: RequestOptions) => Promise<Answer>;
  /** `body` is sent as JSON; text and bytes are sent as they are. */
  post: (path: string, body: unknown, options?: RequestOptions) => Promise<Answer>;
  /** As post. */
  patch: (path: string, body: unknown, options?: RequestOptions) => Promise<Answer>;
  delete: (path: string, options?: RequestOptions) => Promise<Answer>;
  request(method: string, path: string, options?: RequestOptions & { body?: RequestInit["body"] }): Promise<Answer>;
}

/** Makes a client; without a secret it sends no key. */
export function createApi(baseUrl: string, secret?: string): Api {
  const request: Api["request"] = async (method, path, { headers = {}, body } = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    // HEAD has the type of what GET answers, and none of it.
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
