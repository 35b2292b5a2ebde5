import { repositoryRoot } from './local-program.ts';
import { licenceProblems } from './supply-chain/licences.ts';
import { readLock } from './supply-chain/lock-file.ts';
import { shippedPlaces } from './supply-chain/shipped.ts';

/** Says which packages are under a licence that is not on the list (supply-chain/licences.ts). */
const lock = readLock(repositoryRoot);
const problems = licenceProblems(lock, shippedPlaces(lock));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
