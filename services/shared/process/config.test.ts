import { expect, test } from "vitest";
import { ConfigError, readSettings } from "./config.ts";

test("reads settings of every kind", () => {
  const env = {
    NAME: " x ",
    COUNT: "7",
    URL: "http://a.example",
    SECRET: "s".repeat(32),
    SECRETS: `${"s".repeat(32)}, ${"t".repeat(32)}`,
    EMPTY: "",
    URLS: "nats://a:4222, nats://b",
  };
  const settings = readSettings(env, (reader) => ({
    name: reader.text("NAME"),
    fallback: reader.text("MISSING", "default"),
    empty: reader.optional("EMPTY"),
    count: reader.integer("COUNT", 1, 0, 10),
    other: reader.integer("OTHER", 3, 0, 10),
    url: reader.url("URL", ["http:"]),
    noUrl: reader.optionalUrl("NO_URL", ["http:"]),
    urls: reader.optionalUrls("URLS", ["nats:"]),
    noUrls: reader.optionalUrls("NO_URLS", ["nats:"]),
    secret: reader.secrets("SECRET", 32, 2),
    secrets: reader.secrets("SECRETS", 32, 2),
  }));
  expect(settings).toEqual({
    name: "x",
    fallback: "default",
    empty: undefined,
    count: 7,
    other: 3,
    url: "http://a.example",
    noUrl: undefined,
    urls: ["nats://a:4222", "nats://b"],
    noUrls: undefined,
    secret: ["s".repeat(32)],
    secrets: ["s".repeat(32), "t".repeat(32)],
  });
});

test("names every unusable setting at once, and repeats no secret", () => {
  const env = {
    COUNT: "11",
    BAD: "1e3",
    URL: "ftp://x",
    URLS: "nats://a,",
    SECRET: "too short to be one",
    OTHER: `${"o".repeat(32)},neither is this,${"o".repeat(32)}`,
    LAST: `${"l".repeat(32)},`,
  };
  const read = () =>
    readSettings(env, (reader) => {
      reader.text("NAME");
      reader.integer("COUNT", 1, 0, 10);
      reader.integer("BAD", 1, 0, 10);
      reader.url("URL", ["http:"]);
      reader.optionalUrls("URLS", ["nats:"]);
      reader.secrets("SECRET", 32, 2);
      reader.secrets("OTHER", 32, 2);
      reader.secrets("LAST", 32, 2);
      reader.secrets("NONE", 32, 2);
      reader.problem("two settings do not go together");
    });
  expect(read).toThrow(ConfigError);
  try {
    read();
  } catch (error) {
    const { problems, message } = error as ConfigError;
    expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
      "NAME",
      "COUNT",
      "BAD",
      "URL",
      "URLS",
      "SECRET",
      "OTHER",
      "OTHER",
      "OTHER",
      "LAST",
      "NONE",
      "two",
    ]);
    expect(message).not.toContain(env.SECRET);
    for (const secret of env.OTHER.split(",")) expect(message).not.toContain(secret);
  }
});
