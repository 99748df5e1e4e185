/** The observed schema of an event type: that of the properties of its events. */
export { mergeSchema, observe, type ObservedSchema, type ValueTypeName } from "#shared/observed-schema.ts";
