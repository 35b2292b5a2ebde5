import { artifactsQuery } from './artifacts.ts';
import { importBody } from './bundles.ts';
import { answerBody } from './decisions.ts';
import { findQuery } from './find.ts';
import {
  advanceBody,
  brakeBody,
  briefBody,
  fleetLogQuery,
  killBody,
  knownArtifactsQuery,
  modeBody,
  releaseBody,
  reviewBody,
  settleBody,
  simulateQuery,
  spawnBody,
} from './fleet.ts';
import { editBody, forkBody, rerunBody, retryBody, rollbackBody, undoBody } from './forks.ts';
import { limitsChange } from './limits.ts';
import { planFileQuery, plansQuery } from './plans.ts';
import { redactionBody } from './redaction.ts';
import {
  changesQuery,
  chatBody,
  decisionsQuery,
  emptyBody,
  eventsQuery,
  listQuery,
  pageQuery,
  resumeBody,
  runsQuery,
  signalBody,
  startBody,
  stateQuery,
  stopBody,
  tasksQuery,
  transitionsQuery,
} from './requests.ts';
import { collectBody } from './retention.ts';
import { replayBody, verifyBody } from './run-checks.ts';
import { gapAnswerBody, startSessionBody } from './sessions.ts';
import { spendingQuery } from './usage.ts';
import { addUserBody, loginBody, rotateUserBody, usersQuery } from './users.ts';
import { checkWorkflowBody, copyWorkflowBody, saveWorkflowBody } from './workflow-editing.ts';
import { workflowFormsQuery } from './workflow-forms.ts';

/** Request bodies, by their names in the API description. */
export const bodies = {
  AddUser: addUserBody,
  AdvanceTicks: advanceBody,
  Answer: answerBody,
  Brake: brakeBody,
  BriefChanges: briefBody,
  Chat: chatBody,
  CheckWorkflow: checkWorkflowBody,
  Collect: collectBody,
  ControlMode: modeBody,
  CopyWorkflow: copyWorkflowBody,
  Edit: editBody,
  Empty: emptyBody,
  Fork: forkBody,
  GapAnswer: gapAnswerBody,
  Import: importBody,
  Kill: killBody,
  LimitsChange: limitsChange,
  Redaction: redactionBody,
  ReleaseBrake: releaseBody,
  Replay: replayBody,
  Rerun: rerunBody,
  Resume: resumeBody,
  Retry: retryBody,
  Review: reviewBody,
  Rollback: rollbackBody,
  RotateUser: rotateUserBody,
  SaveWorkflow: saveWorkflowBody,
  SettleIssue: settleBody,
  Signal: signalBody,
  Spawn: spawnBody,
  Start: startBody,
  StartSession: startSessionBody,
  Stop: stopBody,
  TakeLogin: loginBody,
  Undo: undoBody,
  Verify: verifyBody,
};

/** Request queries. */
export const queries = {
  ArtifactsQuery: artifactsQuery,
  DecisionsQuery: decisionsQuery,
  EventsQuery: eventsQuery,
  FindQuery: findQuery,
  FleetLogQuery: fleetLogQuery,
  KnownArtifactsQuery: knownArtifactsQuery,
  ListQuery: listQuery,
  NoQuery: emptyBody,
  PageQuery: pageQuery,
  PlanFileQuery: planFileQuery,
  PlansQuery: plansQuery,
  RunsQuery: runsQuery,
  SimulateQuery: simulateQuery,
  SpendingQuery: spendingQuery,
  ChangesQuery: changesQuery,
  StateQuery: stateQuery,
  TasksQuery: tasksQuery,
  TransitionsQuery: transitionsQuery,
  UsersQuery: usersQuery,
  WorkflowFormsQuery: workflowFormsQuery,
};

/** Input schemas of operations. */
export const inputs = { ...bodies, ...queries };
