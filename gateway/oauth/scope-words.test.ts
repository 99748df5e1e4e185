import { expect, test } from "vitest";
import { scopes } from "../../services/identity/domain/scopes.ts";
import { guardedScopes } from "../dashboard/keys.ts";
import { inWords, scopesInWords } from "./scope-words.ts";

test("every scope has words of its own, personal data first", () => {
  expect(scopesInWords.map(({ scope }) => scope).toSorted()).toEqual([...scopes]);
  expect(new Set(scopesInWords.map(({ words }) => words)).size).toBe(scopes.length);
  expect(scopesInWords.filter(({ words }) => !/^[A-Z].{8,109}[^.]$/.test(words))).toEqual([]);
  const firstOther = scopesInWords.findIndex(({ isPersonal }) => !isPersonal);
  expect(scopesInWords.slice(firstOther).filter(({ isPersonal }) => isPersonal)).toEqual([]);
});

test("what only a member with the right may give is personal", () => {
  expect(inWords(guardedScopes).filter(({ isPersonal }) => !isPersonal)).toEqual([]);
});

test("a scope of another version stands first by its own name, and none is there twice", () => {
  expect(inWords(["events:write", "pets:read", "events:read", "events:write"])).toEqual([
    { scope: "pets:read", words: "pets:read", isPersonal: true },
    { scope: "events:read", words: expect.any(String), isPersonal: true },
    { scope: "events:write", words: "Record events", isPersonal: false },
  ]);
});
