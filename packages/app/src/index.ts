export type { VerifyReport } from '@signalbox/journal';
export type { ErrorEnvelope } from '@signalbox/model';
export { namesId, shortId, userRole } from '@signalbox/model';
export { systemPath, systemProgram } from '@signalbox/state';
export { thrownDamage } from '@signalbox/store';
export { accessToken, readToken } from './access-token.ts';
export type { Program } from './child/child-process.ts';
export { playChildRole } from './child/child-roles.ts';
export { thrownStack, unexpectedError, usageError } from './command-error.ts';
export { dataDirectory, dataDirectorySource } from './data-directory.ts';
export { dataDirectoryFault, writableDataDirectoryFault } from './data-directory-fault.ts';
export { type DemoOutcome, playDemo } from './demo/demo.ts';
export { openDemoDirectory } from './demo/demo-directory.ts';
export type { DemoLine, DemoStep } from './demo/scene.ts';
export { startDemoModel } from './demo/show/demo-model.ts';
export { thingsToTry } from './demo/show/keep-going.ts';
export { startShow } from './demo/show/show.ts';
export { writeShowAgent } from './demo/show/show-agent.ts';
export type { Check } from './doctor/check.ts';
export { type DoctorReport, doctor } from './doctor/doctor.ts';
export { checkView } from './doctor/view-checks.ts';

export { openAcceptedRules } from './sandbox/accepted-rules.ts';
export { missingSandbox } from './sandbox/missing-sandbox.ts';
export { type Launch, launchAhead } from './threads/plan-worker-start.ts';
export { expiryAfter } from './users/lifetime.ts';
export {
  type IssuedToken,
  openUsers,
  type TokenHolder,
  type User,
  type Users,
  type UserTerms,
} from './users/users.ts';
export { verifyDirectory } from './verify-directory.ts';
