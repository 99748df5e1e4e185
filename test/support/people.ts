/** Creates profiles and emails for tests. */
import type { Api } from "./api.ts";

/** A profile, with what further requests need. */
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

/** An unused email. */
export function newEmail(): { type: "email"; value: string } {
  return { type: "email", value: `person${++count}@example.com` };
}

/** Creates a profile, by default with a new email. */
export async function newProfile(
  api: Api,
  fields: { identifiers?: object[]; attributes?: object; location?: object } = {},
): Promise<Person> {
  const answer = await api.post("/v1/profiles", { identifiers: [newEmail()], ...fields });
  if (answer.status !== 201) throw new Error(`no profile was made: ${answer.text}`);
  const { data } = answer.body;
  return { ...data, path: `/v1/profiles/${data.id}`, etag: answer.headers.get("etag") ?? "" };
}
