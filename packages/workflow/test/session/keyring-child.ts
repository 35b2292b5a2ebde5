import { sqliteLocks } from '@signalbox/journal';
import { openKeyringFile } from '../../src/session/files/keyring-file.ts';
import { nodeMac } from '../../src/session/files/node-mac.ts';
import { readToken } from '../../src/session/tokens.ts';

/** Prints the current key of a data directory, or the node that a token names there. */
const [home = '', token] = process.argv.slice(2);
const ring = openKeyringFile({ home, locks: sqliteLocks }).load();
if (!ring.ok) throw new Error(ring.error.message);
const read = token === undefined ? undefined : readToken(nodeMac, ring.value, token, 'ack');
console.log(read === undefined ? ring.value.current.key : read.ok ? read.value.nodeId : read.error.code);
