/** Passwords: their rules, and the form in which they are stored: argon2id in PHC form. */
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import type { FieldError } from "#shared/values/errors.ts";
import { normalizeText } from "#shared/values/text.ts";

/** Of characters in NFC. */
export const passwordLengthMin = 12;
/** In NFC and UTF-8. */
export const passwordBytesMax = 256;

// The first choice of OWASP's cheat sheet on password storage: 19 MiB, 2 passes, 1 lane.
const memoryKib = 19_456;
const passes = 2;
const parallelism = 1;
const saltBytes = 16;
const hashBytes = 32;
const phcPattern = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([\w+/]{11,86})\$([\w+/]{22,86})$/;

/**
 * The password in NFC, so that it is the same from every keyboard.
 * @returns undefined when it is longer than any password may be.
 */
export function normalPassword(text: string): string | undefined {
  const normal = normalizeText(text, passwordBytesMax);
  return "text" in normal && Buffer.byteLength(normal.text) <= passwordBytesMax ? normal.text : undefined;
}

/**
 * Checks a new password.
 * @param param the name of the field. No message repeats the password.
 */
export function readNewPassword(text: string, param: string): { password: string } | { error: FieldError } {
  const fault = (code: FieldError["code"], rule: string): { error: FieldError } => ({
    error: { code, message: `\`${param}\` ${rule}`, param },
  });
  if (text === "") return fault("parameter_missing", `is required: at least ${passwordLengthMin} characters.`);
  const password = normalPassword(text);
  if (password === undefined) return fault("parameter_invalid", `must have at most ${passwordBytesMax} bytes.`);
  if (!password.isWellFormed()) return fault("parameter_invalid", "must be made of whole characters.");
  // At most 256 bytes, so counting costs little.
  if (Array.from(password).length < passwordLengthMin) {
    return fault("parameter_invalid", `must have at least ${passwordLengthMin} characters.`);
  }
  return { password };
}

/** Derives what is stored. It takes about 50 ms of a processor, and 19 MiB meanwhile. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await deriveWith(password, salt, { memory: memoryKib, passes, parallelism, tagLength: hashBytes });
  return formatPhc(salt, hash);
}

/** Whether a password is the one that a hash was derived from. @throws Error when the hash has another form. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [, memory, time, lanes, salt = "", hash = ""] = phcPattern.exec(stored) ?? [];
  if (memory === undefined) throw new Error("a stored password is not argon2id in PHC form");
  const expected = Buffer.from(hash, "base64");
  const options = { memory: Number(memory), passes: Number(time), parallelism: Number(lanes) };
  const derived = await deriveWith(password, Buffer.from(salt, "base64"), { ...options, tagLength: expected.length });
  return timingSafeEqual(derived, expected);
}

/** The hash of no password. To compare with it takes as long as with any other. */
export function hashOfNothing(): string {
  return formatPhc(randomBytes(saltBytes), randomBytes(hashBytes));
}

interface Cost {
  memory: number;
  passes: number;
  parallelism: number;
  tagLength: number;
}

function deriveWith(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2("argon2id", { message: Buffer.from(password), nonce, ...cost }, (error, hash) => {
      if (error) reject(error);
      else resolve(hash);
    });
  });
}

function formatPhc(salt: Buffer, hash: Buffer): string {
  const text = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}$${text(salt)}$${text(hash)}`;
}
