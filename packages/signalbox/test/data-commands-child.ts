import { called, dataCommands } from './data-commands.ts';

/** Calls every command that opens a data directory, and prints what each said: `data-commands-child.ts DIR SAMPLES`. */
const [directory = '', samples = '{}'] = process.argv.slice(2);
for (const { name, args } of await dataCommands(JSON.parse(samples))) {
  const { said } = await called([...args, '--data-dir', directory]);
  console.log(JSON.stringify({ name, said }));
}
process.exit();
