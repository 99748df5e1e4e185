declare const brand: unique symbol;

/** A nominal type with the values of another type. */
export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };
