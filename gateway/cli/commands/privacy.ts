/** Commands for privacy requests and suppressions. Each that changes something leaves an entry in the audit. */
import {
  PrivacyRequestStatus,
  PrivacyRequestType,
  PrivacyService,
  type PrivacyRequest,
  type Suppression,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import { privacyRequestObject, privacyStatusNames, privacyTypeNames, suppressionObject } from "#shared/wire/privacy.ts";
import { audit } from "../audit.ts";
import { readAll, required, type Arguments, type Command, type Result } from "../command.ts";
import { UsageError } from "../usage.ts";

const pageItems = 500;
const requestsMax = 100;
const identifiersMax = 20;
const createdBy = "operator";
const { method } = PrivacyService;
const types = { access: PrivacyRequestType.ACCESS, erasure: PrivacyRequestType.ERASURE } as const;

export const privacyCommands: readonly Command[] = [
  {
    name: "privacy requests",
    usage: "[<status>]",
    summary: `the privacy requests of a property, the newest ${requestsMax}; the oldest are at GET /v1/privacy-requests`,
    words: [0, 1],
    options: ["property"],
    async run({ privacy }, { words: [status], options: { property = "" } }) {
      const statuses = status === undefined ? [] : [readStatus(status)];
      const { requests } = await privacy.listPrivacyRequests({ propertyId: property, statuses, limit: requestsMax });
      return { text: requests.map(requestLine).join("\n") || "(none)", json: requests.map(privacyRequestObject) };
    },
  },
  {
    name: "privacy create",
    usage: "access|erasure <profile id> | <type>=<value>…",
    summary: "asks for what is kept of a person, or for its erasure, which is for good and needs --yes",
    words: [2, identifiersMax + 1],
    options: ["property"],
    optional: ["reference", "regulation", "submitted", "not-before", "suppress"],
    isIrreversible: ({ words: [type] }) => type === "erasure",
    async run(services, { words: [type = "", ...who], options }) {
      const {
        property: propertyId = "",
        reference,
        regulation,
        submitted,
        "not-before": notBefore,
        suppress,
      } = options;
      if (!Object.hasOwn(types, type)) throw new UsageError("Say access or erasure first.");
      if (suppress !== undefined && suppress !== "yes" && suppress !== "no") {
        throw new UsageError("--suppress is yes or no.");
      }
      const { request, known } = await services.privacy.createPrivacyRequest({
        propertyId,
        type: types[type as keyof typeof types],
        ...readWho(who),
        reference,
        regulation,
        submittedAt: submitted,
        notBefore,
        suppress: suppress === "yes",
        createdBy,
      });
      const made = required(request);
      if (!known) await audit(services, method.createPrivacyRequest, { targetIds: [made.id], propertyId });
      return showRequest(made);
    },
  },
  {
    name: "privacy get",
    usage: "<request id>",
    summary: "a privacy request, with what was found and what could not be reached",
    words: [1, 1],
    options: ["property"],
    async run({ privacy }, given) {
      return showRequest(required((await privacy.getPrivacyRequest(readId(given))).request));
    },
  },
  {
    name: "privacy retry",
    usage: "<request id>",
    summary: "carries out again what has failed; an erasure goes on for good",
    words: [1, 1],
    options: ["property"],
    isIrreversible: true,
    async run(services, given) {
      const { request } = await services.privacy.retryPrivacyRequest(readId(given));
      return audited(services, method.retryPrivacyRequest, required(request));
    },
  },
  {
    name: "privacy cancel",
    usage: "<request id>",
    summary: "ends a request that has not begun",
    words: [1, 1],
    options: ["property"],
    async run(services, given) {
      const { request } = await services.privacy.cancelPrivacyRequest(readId(given));
      return audited(services, method.cancelPrivacyRequest, required(request));
    },
  },
  {
    name: "privacy suppressions",
    usage: "",
    summary: "what erasures keep out of a property, without its values",
    words: [0, 0],
    options: ["property"],
    async run({ privacy }, { options: { property = "" } }) {
      const suppressions = await readAll<Suppression>(async (last) => {
        const after = last && { afterSuppressionId: last.id };
        const page = await privacy.listSuppressions({ propertyId: property, limit: pageItems, ...after });
        return { items: page.suppressions, hasMore: page.hasMore };
      });
      const text = suppressions.map(({ id, type, privacyRequestId }) => [id, type, privacyRequestId].join("  "));
      return { text: text.join("\n") || "(none)", json: suppressions.map(suppressionObject) };
    },
  },
  {
    name: "privacy unsuppress",
    usage: "<suppression id>",
    summary: "lets an identifier be written again",
    words: [1, 1],
    options: ["property"],
    async run(services, { words: [suppressionId = ""], options: { property: propertyId = "" } }) {
      await services.privacy.deleteSuppression({ propertyId, suppressionId });
      const id = suppressionId.toLowerCase();
      await audit(services, method.deleteSuppression, { targetIds: [id], propertyId });
      return { text: `${id} is gone.`, json: { id, deleted: true } };
    },
  },
];

function readId({ words: [privacyRequestId = ""], options: { property: propertyId = "" } }: Arguments) {
  return { propertyId, privacyRequestId };
}

async function audited(
  services: Parameters<Command["run"]>[0],
  done: Parameters<typeof audit>[1],
  request: PrivacyRequest,
): Promise<Result> {
  await audit(services, done, { targetIds: [request.id], propertyId: request.propertyId });
  return showRequest(request);
}

function readWho(words: readonly string[]) {
  const [first = ""] = words;
  if (words.length === 1 && !first.includes("=")) return { profileId: first };
  const identifiers = words.map((word) => {
    const at = word.indexOf("=");
    if (at < 1) throw new UsageError("An identifier is written with its type, such as email=ada@example.com.");
    return { type: word.slice(0, at), value: word.slice(at + 1) };
  });
  return { identifiers };
}

function readStatus(name: string): PrivacyRequestStatus {
  const found = Object.entries(privacyStatusNames).find(([, known]) => known === name);
  if (!found) throw new UsageError(`A status is one of ${Object.values(privacyStatusNames).join(", ")}.`);
  return Number(found[0]) as PrivacyRequestStatus;
}

function requestLine({ id, type, status, reference, dueAt, createdBy: by }: PrivacyRequest): string {
  const due = dueAt ? `due ${formatTimestamp(dueAt)}` : "";
  return [id, nameIn(privacyTypeNames, type), nameIn(privacyStatusNames, status), due, reference ?? "", by]
    .filter((word) => word !== "")
    .join("  ");
}

function showRequest(request: PrivacyRequest): Result {
  const { subjectIdentifiers, profileIds, counts, notReached, failure } = request;
  const found = Object.entries(counts ?? {}).flatMap(([name, value]) =>
    typeof value === "bigint" ? [`${name} ${value}`] : [],
  );
  const text = [
    requestLine(request),
    ...subjectIdentifiers.map(({ type, displayValue }) => `asked by ${type} ${displayValue}`),
    ...profileIds.map((id) => `profile ${id}`),
    ...found,
    ...notReached,
    ...(failure ? [`${failure.message} (${failure.code})`] : []),
  ].join("\n");
  return { text, json: privacyRequestObject(request) };
}

function nameIn(names: Readonly<Record<number, string>>, value: number): string {
  return names[value] ?? "";
}
