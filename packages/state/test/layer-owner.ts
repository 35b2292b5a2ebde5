// A process that runs one command on a layer and can be killed while it does.
// node layer-owner.ts DIRECTORY SCRIPT
import { openLayered } from './layered.ts';

const [directory = '', script = ''] = process.argv.slice(2);
const place = await openLayered(directory);
await place.run(script, { timeoutMs: 3_600_000 });
