/** People for tests. */
import type { Answer } from "./api.ts";
import type { TestProperty } from "./daybook.ts";

let count = 0;

/** An email that nobody has. */
export function newEmail(): { type: "email"; value: string } {
  return { type: "email", value: `person${++count}@example.com` };
}

/** Makes a profile, with an email of its own unless it is given identifiers. */
export async function newProfile(
  api: TestProperty,
  fields: { identifiers?: object[]; attributes?: object; location?: object } = {},
): Promise<{ id: string; path: string; etag: string } & Answer["body"]> {
  const answer = await api.post("/v1/profiles", { identifiers: [newEmail()], ...fields });
  if (answer.status !== 201) throw new Error(`no profile was made: ${answer.text}`);
  const { data } = answer.body;
  return { ...data, path: `/v1/profiles/${data.id}`, etag: answer.headers.get("etag") };
}
