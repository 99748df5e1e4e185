/** Time zones and currencies to choose from: those that the browser knows, and the one that is set. */

interface Choice {
  value: string;
  title: string;
  detail?: string;
}

/** IANA names, with how far each is from UTC now. */
export function zoneChoices(current: string): Choice[] {
  const names = new Set(["UTC", current, ...Intl.supportedValuesOf("timeZone")]);
  return [...names].map((name) => ({ value: name, title: name, detail: offsetOf(name) }));
}

/** "GMT+2"; nothing for a name that the browser does not know. */
function offsetOf(timeZone: string): string {
  try {
    const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "shortOffset" }).formatToParts();
    return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  } catch {
    return "";
  }
}

export function currencyChoices(current: string): Choice[] {
  const names = new Intl.DisplayNames(undefined, { type: "currency" });
  const codes = new Set([current, ...Intl.supportedValuesOf("currency")]);
  return [...codes].toSorted().map((code) => ({ value: code, title: code, detail: names.of(code) ?? "" }));
}
