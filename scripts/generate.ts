import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { generatedSchemas } from './generated-schemas.ts';
import { repositoryRoot } from './local-program.ts';

/**
 * Writes the JSON Schema of every shape in `generatedSchemas` to `spec/schemas`, and every document in `generatedDocuments`;
 * with `--out DIR` the schemas alone, to there. The code is the source; nobody edits what is written here. `--check` writes
 * nothing and fails where a file is not what it would be.
 */

/** In every file that is written here, and the mark by which one that is no longer generated is known. */
const ORIGIN = 'Generated from the zod schema of this name by `npm run generate`; edits are lost.';

const { values } = parseArgs({ options: { check: { type: 'boolean' }, out: { type: 'string' } } });
const folder = path.resolve(values.out ?? path.join(repositoryRoot, 'spec/schemas'));
const expected = new Map(
  Object.entries(generatedSchemas).map(([name, schema]) => [`${name}.json`, schemaText(name, schema)]),
);
process.exitCode = values.check ? check() : write();
// Loaded for itself: it takes what the documents are about with it.
if (values.out === undefined)
  process.exitCode ||= await documents((await import('./generated-documents.ts')).generatedDocuments);

function check(): number {
  const present = readFolder();
  const problems = [
    ...[...expected.keys()].filter(file => !present.has(file)).map(file => `missing: ${file}`),
    ...[...present]
      .filter(([file, text]) => expected.has(file) && expected.get(file) !== text)
      .map(([file]) => `stale: ${file}`),
    ...[...present.keys()].filter(file => !expected.has(file)).map(file => `surplus: ${file}`),
  ];
  if (problems.length === 0) return 0;
  console.error(`The generated schemas in ${shown(folder)} are not current:`);
  for (const problem of problems.sort()) console.error(`  ${problem}`);
  console.error('`npm run generate` mends it.');
  return 1;
}

/** Only what was generated is deleted: a folder named by mistake loses nothing. */
function write(): number {
  const surplus = [...readFolder()].filter(([file]) => !expected.has(file));
  const foreign = surplus.filter(([, text]) => !text.includes(JSON.stringify(ORIGIN))).map(([file]) => file);
  if (foreign.length > 0) {
    console.error(
      `${shown(folder)} holds files that were not generated: ${foreign.join(', ')}. Move them and try again.`,
    );
    return 1;
  }
  mkdirSync(folder, { recursive: true });
  for (const [file] of surplus) rmSync(path.join(folder, file));
  for (const [file, text] of expected) writeFileSync(path.join(folder, file), text);
  console.log(`${expected.size} schemas in ${shown(folder)}`);
  return 0;
}

async function documents(made: Readonly<Record<string, () => string | Promise<string>>>): Promise<number> {
  const texts = await Promise.all(
    Object.entries(made).map(async ([file, text]) => [path.join(repositoryRoot, file), await text()] as const),
  );
  if (!values.check) {
    for (const [file, text] of texts) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    console.log(`${texts.length} documents`);
    return 0;
  }
  const stale = texts.filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
  for (const [file] of stale) console.error(`${shown(file)} is not current: \`npm run generate\` mends it.`);
  return stale.length === 0 ? 0 : 1;
}

function schemaText(name: string, schema: z.ZodType): string {
  const jsonSchema = z.toJSONSchema(schema, { target: 'draft-2020-12' });
  return `${JSON.stringify(sortedKeys({ ...jsonSchema, $comment: ORIGIN, title: name }), null, 2)}\n`;
}

/** Arrays keep their order: it is the order of declaration. */
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, part]) => [key, sortedKeys(part)]));
}

/** The files of the folder by name, none where there is no folder. */
function readFolder(): ReadonlyMap<string, string> {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const files = entries.filter(entry => entry.isFile());
  return new Map(files.map(({ name }) => [name, readFileSync(path.join(folder, name), 'utf8')]));
}

function shown(directory: string): string {
  return path.relative(process.cwd(), directory) || '.';
}
