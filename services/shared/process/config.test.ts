import { expect, test } from "vitest";
import { ConfigError, readSettings } from "./config.ts";

test("reads settings of every kind", () => {
  const env = {
    NAME: " x ",
    COUNT: "7",
    URL: "http://a.example",
    SECRET: "s".repeat(32),
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
    secret: reader.secret("SECRET", 32),
    optionalSecret: reader.optionalSecret("SECRET", 32),
    noSecret: reader.optionalSecret("NO_SECRET", 32),
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
    secret: "s".repeat(32),
    optionalSecret: "s".repeat(32),
    noSecret: undefined,
  });
});

test("names every unusable setting at once, and repeats no secret", () => {
  const env = {
    COUNT: "11",
    BAD: "1e3",
    URL: "ftp://x",
    URLS: "nats://a,",
    SECRET: "too short to be one",
    OTHER: "neither is this",
  };
  const read = () =>
    readSettings(env, (reader) => {
      reader.text("NAME");
      reader.integer("COUNT", 1, 0, 10);
      reader.integer("BAD", 1, 0, 10);
      reader.url("URL", ["http:"]);
      reader.optionalUrls("URLS", ["nats:"]);
      reader.secret("SECRET", 32);
      reader.optionalSecret("OTHER", 32);
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
      "two",
    ]);
    expect(message).not.toContain(env.SECRET);
    expect(message).not.toContain(env.OTHER);
  }
});
