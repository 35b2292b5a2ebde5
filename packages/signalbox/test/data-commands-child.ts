import { called, dataCommands } from './data-commands.ts';

/**
 * Calls commands that open a data directory on each of some: `data-commands-child.ts GIVEN DIR...`. They are all there are, or `only`
 * those, and `more` command lines. Prints the answers of each.
 */
interface Given {
  readonly samples: Readonly<Record<string, string>>;
  readonly only?: readonly string[];
  readonly more?: readonly (readonly string[])[];
}

const [text = '', ...directories] = process.argv.slice(2);
const { samples, only, more = [] }: Given = JSON.parse(text);
const all = (await dataCommands(samples)).filter(({ name }) => only?.includes(name) ?? true);
for (const { name, args } of [...all, ...more.map(args => ({ name: args.join(' '), args }))]) {
  const answers = [];
  for (const directory of directories) answers.push(await called([...args, '--data-dir', directory]));
  console.log(JSON.stringify({ name, answers }));
}
process.exit();
