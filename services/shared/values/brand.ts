declare const brand: unique symbol;

/** A type of its own with the values of another: what is made as one is taken for no other. */
export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };
