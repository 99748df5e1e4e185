/** The form of API keys: `sk_live_` or `sk_test_`, then base-62 characters. What has another form was never a key. */

/** Live or test, as the database and the keys spell it. */
export type ModeName = "live" | "test";

const pattern = /^sk_(live|test)_[0-9A-Za-z]{32,200}$/;

/** The mode that a text says as a key; undefined when it cannot be one. */
export function modeOfKey(text: string): ModeName | undefined {
  return pattern.exec(text)?.[1] as ModeName | undefined;
}
