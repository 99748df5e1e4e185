/** Credentials and TLS of NATS connections, read once at process start. No message repeats a secret. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import {
  credsAuthenticator,
  nkeyAuthenticator,
  nkeys,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
  type Authenticator,
  type NodeConnectionOptions,
} from "@nats-io/transport-node";
import type { SettingsReader } from "../../process/config.ts";

/** Connection options for authentication and TLS. */
export type Access = Pick<NodeConnectionOptions, "authenticator" | "tls">;

const decoder = new TextDecoder();

/**
 * Moves the credentials out of the addresses, and reads NATS_CREDS, NATS_NKEY, NATS_NKEY_FILE and NATS_TLS_*.
 * @param urls the addresses of NATS_URL. Malformed ones are skipped because they are reported already.
 * @returns the addresses without their credentials.
 */
export function readAccess(reader: SettingsReader, urls: readonly string[]): { servers: string[]; access: Access } {
  const parsed = urls.flatMap((url) => URL.parse(url) ?? []);
  const authenticators = [
    { name: "the credentials in NATS_URL", authenticator: readUrlCredentials(reader, parsed) },
    { name: "NATS_CREDS", authenticator: readCreds(reader) },
    { name: "NATS_NKEY", authenticator: readNkey(reader, "NATS_NKEY", reader.optional("NATS_NKEY")) },
    { name: "NATS_NKEY_FILE", authenticator: readNkey(reader, "NATS_NKEY_FILE", readFile(reader, "NATS_NKEY_FILE")) },
  ].filter(({ authenticator }) => authenticator !== undefined);
  if (authenticators.length > 1) {
    const names = authenticators.map(({ name }) => name).join(", ");
    reader.problem(`only one way to authenticate with NATS can be set, but there are ${names}`);
  }
  const tls = readTls(reader, parsed);
  const [first] = authenticators;
  return {
    servers: parsed.map(({ protocol, host }) => `${protocol}//${host}`),
    access: { ...(first && { authenticator: first.authenticator }), ...(tls && { tls }) },
  };
}

/** Reads a user and a password, or a token in place of the user. Credentials of one address apply to all addresses. */
function readUrlCredentials(reader: SettingsReader, urls: readonly URL[]): Authenticator | undefined {
  const pairs = new Set(urls.map(({ username, password }) => `${username}:${password}`).filter((pair) => pair !== ":"));
  if (pairs.size > 1) reader.problem("NATS_URL must have the same credentials in all of its addresses");
  const [pair] = pairs;
  if (pair === undefined) return undefined;
  const [user, password] = pair.split(":").map(decode);
  if (user === undefined || password === undefined) {
    reader.problem("NATS_URL must have its user and password percent-encoded: %25 stands for a percent sign");
    return undefined;
  }
  if (user === "") reader.problem("NATS_URL has a password without a user");
  return password === "" ? tokenAuthenticator(user) : usernamePasswordAuthenticator(user, password);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readCreds(reader: SettingsReader): Authenticator | undefined {
  const creds = readFile(reader, "NATS_CREDS");
  if (creds === undefined) return undefined;
  const authenticator = credsAuthenticator(creds);
  try {
    // The authenticator parses the file only when it answers a server's nonce.
    authenticator("nonce");
  } catch {
    reader.problem("NATS_CREDS must name a credentials file with a user JWT and its NKEY seed");
  }
  return authenticator;
}

function readNkey(
  reader: SettingsReader,
  name: string,
  seed: Uint8Array | string | undefined,
): Authenticator | undefined {
  if (seed === undefined) return undefined;
  const text = (typeof seed === "string" ? seed : decoder.decode(seed)).trim();
  const bytes = new TextEncoder().encode(text);
  try {
    if (!nkeys.fromSeed(bytes).getPublicKey().startsWith("U")) throw new Error("not of a user");
  } catch {
    reader.problem(
      `${name} must ${name === "NATS_NKEY" ? "be" : "name a file with"} the seed of a user NKEY: it starts with SU`,
    );
  }
  return nkeyAuthenticator(bytes);
}

/** Any TLS setting, or an address that starts with `tls:`, makes the client refuse a server without TLS. */
function readTls(reader: SettingsReader, urls: readonly URL[]): Access["tls"] {
  const [ca, cert, key] = ["NATS_TLS_CA", "NATS_TLS_CERT", "NATS_TLS_KEY"].map((name) => {
    const content = readFile(reader, name);
    return content && decoder.decode(content);
  });
  const isSet = (name: string): boolean => reader.optional(name) !== undefined;
  const isTlsUrl = urls.some(({ protocol }) => protocol === "tls:");
  if (!isTlsUrl && !["NATS_TLS_CA", "NATS_TLS_CERT", "NATS_TLS_KEY"].some(isSet)) return undefined;
  if (isSet("NATS_TLS_CERT") !== isSet("NATS_TLS_KEY")) {
    reader.problem("NATS_TLS_CERT and NATS_TLS_KEY must be set together");
  }
  // The client would check the certificate of an IP address against the name `localhost`.
  if (urls.some(({ hostname }) => isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)) {
    reader.problem(
      "NATS_URL must name servers by host name when TLS is used, because certificates are checked by name",
    );
  }
  const files = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  checkPem(reader, files);
  return files;
}

function checkPem(reader: SettingsReader, { ca, cert, key }: { ca?: string; cert?: string; key?: string }): void {
  const isUsable = (context: Parameters<typeof createSecureContext>[0]): boolean => {
    try {
      createSecureContext(context);
      return true;
    } catch {
      return false;
    }
  };
  if (ca !== undefined && !(ca.includes("-----BEGIN CERTIFICATE-----") && isUsable({ ca }))) {
    reader.problem("NATS_TLS_CA must name a file with certificates in PEM");
  }
  if (cert !== undefined && key !== undefined && !isUsable({ cert, key })) {
    reader.problem("NATS_TLS_CERT and NATS_TLS_KEY must name files with a certificate and its private key in PEM");
  }
}

/** The content of the file that a setting names. Undefined when it is unset, or unreadable, which is reported. */
function readFile(reader: SettingsReader, name: string): Uint8Array | undefined {
  const path = reader.optional(name);
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    reader.problem(`${name} names a file that cannot be read: ${path} (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
