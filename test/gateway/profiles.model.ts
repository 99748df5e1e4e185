/** Profiles, as simple as they can be said: what writes do to them, and random writes. */
import fc from "fast-check";

const pool = ["email a@x.example", "email b@x.example", "phone +15550100001", "card 1", "card 2", "card 3"] as const;
type Name = (typeof pool)[number];
export const inputOf = (name: Name): { type: string; value: string } => {
  const [type = "", value = ""] = name.split(" ");
  return { type, value };
};

/** A person of the model. */
export interface Person {
  id: string;
  mergedInto: Person | undefined;
  names: Set<Name>;
  attributes: Map<string, number | number[]>;
  version: number;
}

type Attributes = Record<string, number>;
interface Operation {
  op: "set" | "delete" | "append_unique" | "remove";
  path: string;
  value: number;
}

/** A write. */
export type Command =
  | { do: "create"; names: Name[]; attributes: Attributes }
  | { do: "upsert"; names: Name[]; attributes: Attributes }
  | { do: "upsertOperations"; names: Name[]; operations: Operation[] }
  | { do: "operate"; who: number; operations: Operation[] }
  | { do: "add"; who: number; name: Name }
  | { do: "remove"; who: number; name: Name }
  | { do: "merge"; survivor: number; source: number };

/** What the model says of a command: the status, and the person that it is about. */
interface Expected {
  status: number;
  person?: Person;
}

/** All people of a property, and what each write does to them. */
export class Model {
  readonly people: Person[] = [];

  holderOf(name: Name): Person | undefined {
    return this.people.find(({ names }) => names.has(name));
  }

  /** A person by any number, as their survivor. */
  pick(who: number): Person | undefined {
    let person = this.people[who % Math.max(1, this.people.length)];
    while (person?.mergedInto) person = person.mergedInto;
    return person;
  }

  create(names: Name[], attributes: Person["attributes"]): Expected {
    const person = { id: "", mergedInto: undefined, names: new Set(names), attributes, version: 1 };
    this.people.push(person);
    return { status: 201, person };
  }

  /** Writes to a person; the version tells whether anything changed. */
  write(person: Person, names: Name[], attributes: Person["attributes"]): Expected {
    const before = JSON.stringify([[...person.names], [...person.attributes]]);
    for (const name of names) person.names.add(name);
    person.attributes = attributes;
    if (JSON.stringify([[...person.names], [...person.attributes]]) !== before) person.version++;
    return { status: 200, person };
  }

  apply(command: Command): Expected {
    switch (command.do) {
      case "create":
        return command.names.some((name) => this.holderOf(name))
          ? { status: 409 }
          : this.create(command.names, new Map(Object.entries(command.attributes)));
      case "upsert":
        return this.upsert(command.names, (old) => new Map([...old, ...Object.entries(command.attributes)]));
      case "upsertOperations":
        return this.upsert(command.names, (old) => operate(old, command.operations));
      case "operate": {
        const person = this.pick(command.who);
        const attributes = person && operate(person.attributes, command.operations);
        if (!person) return { status: 404 };
        return attributes ? this.write(person, [], attributes) : { status: 400 };
      }
      case "add": {
        const person = this.pick(command.who);
        const holder = this.holderOf(command.name);
        if (!person) return { status: 404 };
        if (holder && holder !== person) return { status: 409 };
        this.write(person, [command.name], person.attributes);
        return { status: holder ? 200 : 201, person };
      }
      case "remove": {
        const person = this.pick(command.who);
        if (!person?.names.has(command.name)) return { status: 404 };
        if (person.names.size === 1) return { status: 422 };
        person.names.delete(command.name);
        person.version++;
        return { status: 200, person };
      }
      default:
        return this.merge(command.survivor, command.source);
    }
  }

  private upsert(names: Name[], change: (old: Person["attributes"]) => Person["attributes"] | undefined): Expected {
    const holders = new Set(names.flatMap((name) => this.holderOf(name) ?? []));
    if (holders.size > 1) return { status: 409 };
    const [holder] = holders;
    const attributes = change(holder?.attributes ?? new Map());
    if (!attributes) return { status: 400 };
    return holder ? this.write(holder, names, attributes) : this.create(names, attributes);
  }

  private merge(survivorAt: number, sourceAt: number): Expected {
    const survivor = this.people[survivorAt % Math.max(1, this.people.length)];
    const source = this.people[sourceAt % Math.max(1, this.people.length)];
    if (!survivor || !source) return { status: 404 };
    if (survivor === source || survivor.mergedInto || source.mergedInto) return { status: 422 };
    survivor.names = new Set([...survivor.names, ...source.names]);
    survivor.attributes = new Map([
      ...survivor.attributes,
      ...[...source.attributes].filter(([key]) => !survivor.attributes.has(key)),
    ]);
    source.version++;
    survivor.version = Math.max(survivor.version, source.version) + 1;
    source.names = new Set();
    source.mergedInto = survivor;
    return { status: 200, person: survivor };
  }
}

function operate(old: Person["attributes"], operations: Operation[]): Person["attributes"] | undefined {
  const attributes = new Map(old);
  for (const { op, path, value } of operations) {
    const current = attributes.get(path);
    if (op === "remove" && current === undefined) continue;
    if (op === "set") attributes.set(path, value);
    else if (op === "delete") attributes.delete(path);
    else if (current !== undefined && !Array.isArray(current)) return undefined;
    else if (op === "remove") attributes.set(path, current?.filter((item) => item !== value) ?? []);
    else if (!current?.includes(value)) attributes.set(path, [...(current ?? []), value]);
  }
  return attributes;
}

const names = fc.uniqueArray(fc.constantFrom(...pool), { minLength: 1, maxLength: 3 });
const key = fc.constantFrom("k", "l", "m");
const value = fc.integer({ min: 0, max: 2 });
const attributes = fc.dictionary(key, value, { maxKeys: 2 });
const operations = fc.array(
  fc.record({ op: fc.constantFrom("set", "delete", "append_unique", "append_unique", "remove"), path: key, value }),
  { minLength: 1, maxLength: 4 },
);
const who = fc.nat(20);
export const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constant("create" as const), names, attributes }),
  fc.record({ do: fc.constant("upsert" as const), names, attributes }),
  fc.record({ do: fc.constant("upsertOperations" as const), names, operations }),
  fc.record({ do: fc.constant("operate" as const), who, operations }),
  fc.record({ do: fc.constant("add" as const), who, name: fc.constantFrom(...pool) }),
  fc.record({ do: fc.constant("remove" as const), who, name: fc.constantFrom(...pool) }),
  fc.record({ do: fc.constant("merge" as const), survivor: who, source: who }),
);

export const toOperations = (list: Operation[]): object[] =>
  list.map(({ op, path, value: operand }) => (op === "delete" ? { op, path } : { op, path, value: operand }));
