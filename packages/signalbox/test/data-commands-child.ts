import { called, dataCommands } from './data-commands.ts';

/** Calls every command that opens a data directory on each of some: `data-commands-child.ts SAMPLES DIR...`. Prints what each said. */
const [samples = '{}', ...directories] = process.argv.slice(2);
for (const { name, args } of await dataCommands(JSON.parse(samples))) {
  const said: string[] = [];
  for (const directory of directories) said.push((await called([...args, '--data-dir', directory])).said);
  console.log(JSON.stringify({ name, said }));
}
process.exit();
