/** The form of API keys: `sk_live_` or `sk_test_`, then 32 to 200 base-62 characters. */

export type ModeName = "live" | "test";

const pattern = /^sk_(live|test)_[0-9A-Za-z]{32,200}$/;

/** The mode of an API key; undefined for a text of another form. */
export function modeOfKey(text: string): ModeName | undefined {
  return pattern.exec(text)?.[1] as ModeName | undefined;
}
