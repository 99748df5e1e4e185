/** Rules of the fields of privacy requests; the other rules are in rules.ts. */
import type { FieldError } from "#shared/values/errors.ts";
import type { JsonValue } from "#shared/json/json.ts";
import { findRepeats } from "#shared/values/identifiers.ts";
import { identifiersPerRequestMax } from "#shared/values/privacy.ts";
import { missing } from "#shared/values/wording.ts";
import { listRule, objectRule, rule } from "../field-rules.ts";
import { eitherOr, toWanted } from "./rules.ts";

const isThere = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

export const subjects = {
  [rule]: {
    ...listRule((list, param) => {
      // The schema refuses a list that is too long.
      if (list.length > identifiersPerRequestMax) return [];
      return findRepeats(list.map(toWanted), param).errors;
    })[rule],
    expected: `a list of identifiers such as [{"type": "email", "value": "ada@example.com"}]`,
  },
};

/** Checks the fields that depend on each other: the person, once, and suppress with an erasure only. */
export const privacyRequest = objectRule((body) => {
  const faults: FieldError[] = [];
  if (!isThere(body.profile_id) && !isThere(body.identifiers)) {
    faults.push(missing("profile_id", "send the id of the person's profile, or `identifiers` with a list of them"));
  } else if (isThere(body.profile_id) && isThere(body.identifiers)) faults.push(eitherOr("identifiers", "profile_id"));
  if (body.type === "access" && body.suppress === true) {
    const message = "`suppress` must be left out of an access request: only an erasure keeps identifiers out.";
    faults.push({ code: "parameter_conflict", message, param: "suppress" });
  }
  return faults;
});
