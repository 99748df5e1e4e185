/**
 * A plugin of buf: the RPC documents for callers within a mesh, a page of Markdown for each service, made of the
 * comments of the contracts.
 */
import type { AnyDesc, DescEnum, DescField, DescFile, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { createEcmaScriptPlugin, getComments, runNodeJs, type Schema } from "@bufbuild/protoplugin";

type Type = DescMessage | DescEnum;

function generate(schema: Schema): void {
  const files = schema.files.filter(({ proto }) => proto.package.startsWith("daybook."));
  const services = files.flatMap((file) => file.services);
  const reached = new Set(services.flatMap((service) => [...typesOf(service)]));
  for (const service of services) {
    // What goes over the bus stands in the file of its service.
    const others = typesOfFile(service).filter((type) => !reached.has(type));
    schema.generateFile(`${pageOf(service)}.md`).print(render(service, others));
  }
}

function pageOf({ name }: DescService): string {
  return name.replace(/Service$/, "").toLowerCase();
}

function typesOfFile({ file }: DescService): Type[] {
  return [...file.messages, ...file.enums];
}

/** The types that the calls of a service are made of, each once, in the order in which they are met. */
function typesOf(service: DescService): Set<Type> {
  const found = new Set<Type>();
  for (const { input, output } of service.methods) {
    addType(found, input);
    addType(found, output);
  }
  return found;
}

function addType(found: Set<Type>, type: Type): void {
  if (found.has(type) || !type.typeName.startsWith("daybook.")) return;
  found.add(type);
  if (type.kind === "enum") return;
  for (const { message, enum: choice } of type.fields) {
    if (message) addType(found, message);
    if (choice) addType(found, choice);
  }
}

function render(service: DescService, others: readonly Type[]): string {
  const types = typesOf(service);
  const calls = new Set<Type>(service.methods.flatMap(({ input, output }) => [input, output]));
  const shared = [...types].filter((type) => !calls.has(type));
  const apart = new Set<Type>();
  for (const type of others) addType(apart, type);
  const unshared = [...apart].filter((type) => !types.has(type));
  const sections = [
    `# ${service.name}`,
    `Made of \`proto/${service.file.proto.name}\` by \`npm run generate\`; not to be edited.`,
    commentOf(service),
    `Calls go to \`/${service.typeName}/<method>\` with Connect, within a mesh only: \`services/README.md\` tells what they carry.`,
    "## Methods",
    ...service.methods.flatMap(renderMethod),
    ...(shared.length > 0 ? ["## Types", ...shared.flatMap(renderType)] : []),
    ...(unshared.length > 0 ? ["## Messages on the bus, and signals", ...unshared.flatMap(renderType)] : []),
  ];
  return sections.filter((section) => section !== "").join("\n\n");
}

function renderMethod(method: DescMethod): string[] {
  return [`### ${method.name}`, commentOf(method), ...renderCallType(method.input), ...renderCallType(method.output)];
}

function renderCallType(type: DescMessage): string[] {
  return [`#### ${type.name}`, commentOf(type), ...renderFields(type)];
}

function renderType(type: Type): string[] {
  return [
    `### ${type.name}`,
    commentOf(type),
    ...(type.kind === "message"
      ? renderFields(type)
      : [
          renderTable(
            ["Value", "Number", "Meaning"],
            type.values.map((value) => [`\`${value.name}\``, String(value.number), commentOf(value)]),
          ),
        ]),
  ];
}

function renderFields(type: DescMessage): string[] {
  if (type.fields.length === 0) return [];
  const rows = type.fields.map((field) => [`\`${field.name}\``, typeOf(field), commentOf(field)]);
  const choices = type.oneofs.map((oneof) => {
    const names = oneof.fields.map(({ name }) => `\`${name}\``).join(", ");
    return `\`${oneof.name}\`: at most one of ${names}. ${commentOf(oneof)}`;
  });
  return [renderTable(["Field", "Type", "Meaning"], rows), ...choices];
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const cells = rows.map((row) => line(row.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " "))));
  return [line(head), line(head.map(() => "---")), ...cells].join("\n");
}

function typeOf(field: DescField): string {
  if (field.fieldKind === "list") return `repeated ${valueOf(field)}`;
  if (field.fieldKind === "map") return `map of ${nameOf(field.mapKey)} to ${valueOf(field)}`;
  return field.proto.proto3Optional ? `optional ${valueOf(field)}` : valueOf(field);
}

function valueOf(field: DescField): string {
  const type = field.message ?? field.enum;
  if (!type) return field.scalar === undefined ? "" : nameOf(field.scalar);
  const isOurs = type.typeName.startsWith("daybook.");
  return isOurs ? `[${type.name}](#${type.name.toLowerCase()})` : `\`${type.typeName}\``;
}

function nameOf(scalar: ScalarType): string {
  return ScalarType[scalar].toLowerCase();
}

/** The comment of an item, a line for each of its paragraphs. */
function commentOf(item: Exclude<AnyDesc, DescFile>): string {
  const { leading = "" } = getComments(item);
  return leading
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
    .join("\n\n")
    .trim();
}

runNodeJs(createEcmaScriptPlugin({ name: "protoc-gen-docs", version: "1", generateTs: generate }));
