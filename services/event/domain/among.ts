/** Applies a stage to some of the items. @returns the items that are open then, in order. */
export async function among<Item>(
  items: readonly Item[],
  isChosen: (item: Item) => boolean,
  stage: (chosen: readonly Item[]) => Promise<Item[]>,
): Promise<Item[]> {
  // Chosen once: what a stage waits for may change what items are chosen by.
  const chosen = new Set(items.filter(isChosen));
  if (chosen.size === 0) return [...items];
  const open = new Set(await stage([...chosen]));
  return items.filter((item) => !chosen.has(item) || open.has(item));
}
