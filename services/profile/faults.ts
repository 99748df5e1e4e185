/** Refusals that name every field at fault, not only the first that the work came upon. */
import type { AttributeOperation, IdentifierInput, LocationPatch } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, settleNow, type FieldError } from "#shared/values/errors.ts";
import { changeAttributes, toLocationChanges } from "./convert.ts";
import { readIdentifiers } from "#shared/values/identifiers.ts";
import { changeLocation } from "./domain/location.ts";

/** What a write of a profile may say. */
export interface ProfileFields {
  identifiers?: IdentifierInput[];
  attributesJson?: string;
  attributeOperations?: AttributeOperation[];
  location?: LocationPatch;
}

/**
 * Does the work of a write. Should it be refused for what a field says, all fields are looked at, which costs nothing as long as all is well.
 * @throws DaybookError with every field at fault.
 */
export async function listingFaults<T>(fields: ProfileFields, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DaybookError) || error.status !== 400) throw error;
    const faults = findFaults(fields);
    // What only the profile as it is makes wrong is not among them.
    const isKnown = faults.some(({ param }) => param === error.param);
    throw isKnown ? DaybookError.ofFields(faults) : error;
  }
}

function findFaults({ identifiers, attributesJson, attributeOperations = [], location }: ProfileFields): FieldError[] {
  const tryOut = (work: () => unknown): FieldError[] => {
    const refusal = settleNow(work);
    if (!(refusal instanceof DaybookError)) return [];
    const { code, message, param, errors } = refusal;
    return errors.length > 0 ? [...errors] : [{ code, message, param }];
  };
  return [
    ...tryOut(() => identifiers && readIdentifiers(identifiers)),
    ...tryOut(() => changeAttributes("{}", { attributeOperations: [], attributesJson })),
    // Each by itself: an operation is tried on nothing, where no path is in its way.
    ...attributeOperations.flatMap((operation, index) =>
      tryOut(() => changeAttributes("{}", { attributeOperations: [operation] })).map((fault) => ({
        ...fault,
        param: fault.param?.replace(/^attribute_operations\.0/, `attribute_operations.${index}`) ?? null,
      })),
    ),
    ...tryOut(() => changeLocation(null, toLocationChanges(location))),
  ];
}
