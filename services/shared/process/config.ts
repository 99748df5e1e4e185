/** Reads settings from the environment, once and in one place of a process, and reports all problems together. */

/** The minimum length of the credential of a mesh. */
export const internalTokenLengthMin = 32;

/** The problems of the settings, one line for each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings are not usable:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Reads settings by name. An unusable setting is noted, and replaced by a value of its type until all are read. */
export interface SettingsReader {
  /** Any text; undefined when unset or empty. */
  optional(name: string): string | undefined;
  /** Any text, required without a fallback. */
  text(name: string, fallback?: string): string;
  /**
   * One or more required texts of at least `lengthMin` characters, separated by commas. A message never repeats them.
   */
  secrets(name: string, lengthMin: number, countMax: number): string[];
  /** A whole number from `min` to `max`. */
  integer(name: string, fallback: number, min: number, max: number): number;
  /** An address with one of the protocols, required without a fallback. */
  url(name: string, protocols: readonly string[], fallback?: string): string;
  /** As url, or undefined when unset. */
  optionalUrl(name: string, protocols: readonly string[]): string | undefined;
  /** One or more addresses, separated by commas. */
  urls(name: string, protocols: readonly string[], fallback: string): string[];
  /** As urls, or undefined when unset. */
  optionalUrls(name: string, protocols: readonly string[]): string[] | undefined;
  /** Reports a problem, such as one of several settings together. */
  problem(text: string): void;
}

/**
 * Reads settings with `read`.
 * @throws ConfigError that names every unusable setting.
 */
export function readSettings<T>(env: NodeJS.ProcessEnv, read: (reader: SettingsReader) => T): T {
  const problems: string[] = [];
  const optional = (name: string): string | undefined => env[name]?.trim() || undefined;
  const required = (name: string): string => {
    const value = optional(name);
    if (value === undefined) problems.push(`${name} must be set`);
    return value ?? "";
  };
  const checkUrl = (name: string, value: string, protocols: readonly string[]): string => {
    const url = URL.parse(value);
    if (value !== "" && (!url || !protocols.includes(url.protocol))) {
      problems.push(`${name} must be an address that starts with ${protocols.join(" or ")}`);
    }
    return value;
  };
  const checkSecret = (name: string, value: string, lengthMin: number): string => {
    if (value !== "" && value.length < lengthMin) problems.push(`${name} must have at least ${lengthMin} characters`);
    return value;
  };
  const checkUrls = (name: string, value: string, protocols: readonly string[]): string[] => {
    const urls = value.split(",").map((url) => url.trim());
    for (const url of urls) {
      if (url === "") problems.push(`${name} has a comma that no address follows`);
      else checkUrl(name, url, protocols);
    }
    return urls;
  };
  const settings = read({
    optional,
    text: (name, fallback) => optional(name) ?? fallback ?? required(name),
    secrets(name, lengthMin, countMax) {
      const values = required(name)
        .split(",")
        .map((value) => value.trim());
      if (values.length > countMax) problems.push(`${name} must have at most ${countMax} values, separated by commas`);
      if (new Set(values).size < values.length) problems.push(`${name} must not have a value twice`);
      if (values.length > 1 && values.includes("")) problems.push(`${name} has a comma that no value follows`);
      return values.map((value) => checkSecret(name, value, lengthMin));
    },
    integer(name, fallback, min, max) {
      const text = optional(name);
      if (text === undefined) return fallback;
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      problems.push(`${name} must be a whole number from ${min} to ${max}`);
      return fallback;
    },
    url: (name, protocols, fallback) => checkUrl(name, optional(name) ?? fallback ?? required(name), protocols),
    optionalUrl(name, protocols) {
      const value = optional(name);
      return value === undefined ? undefined : checkUrl(name, value, protocols);
    },
    urls: (name, protocols, fallback) => checkUrls(name, optional(name) ?? fallback, protocols),
    optionalUrls(name, protocols) {
      const value = optional(name);
      return value === undefined ? undefined : checkUrls(name, value, protocols);
    },
    problem: (text) => problems.push(text),
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return settings;
}
