/** People for tests. */
import type { Api } from "./api.ts";

/** A profile as it was answered, with what is needed to go on with it. */
export interface Person {
  id: string;
  /** `/v1/profiles/<id>` */
  path: string;
  etag: string;
  identifier_ids: string[];
  profile_ref?: string;
  created_at: string;
  updated_at: string;
}

let count = 0;

/** An email that nobody has. */
export function newEmail(): { type: "email"; value: string } {
  return { type: "email", value: `person${++count}@example.com` };
}

/** Makes a profile, with an email of its own unless it is given identifiers. */
export async function newProfile(
  api: Api,
  fields: { identifiers?: object[]; attributes?: object; location?: object } = {},
): Promise<Person> {
  const answer = await api.post("/v1/profiles", { identifiers: [newEmail()], ...fields });
  if (answer.status !== 201) throw new Error(`no profile was made: ${answer.text}`);
  const { data } = answer.body;
  return { ...data, path: `/v1/profiles/${data.id}`, etag: answer.headers.get("etag") ?? "" };
}
