/** Which property was open last in this browser. */

const name = "daybook:property";

export const lastProperty = {
  read(): string | undefined {
    try {
      return localStorage.getItem(name) ?? undefined;
    } catch {
      return undefined;
    }
  },
  write(id: string): void {
    try {
      localStorage.setItem(name, id);
    } catch {
      // Storage is blocked: the first property opens next time.
    }
  },
};
