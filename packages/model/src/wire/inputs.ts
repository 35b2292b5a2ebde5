import { artifactsQuery } from './artifacts.ts';
import { importBody } from './bundles.ts';
import { answerBody } from './decisions.ts';
import { editBody, forkBody, rerunBody, retryBody, rollbackBody, undoBody } from './forks.ts';
import { planFileQuery, plansQuery } from './plans.ts';
import { redactionBody } from './redaction.ts';
import {
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
import { workflowFormsQuery } from './workflow-forms.ts';

/** Request bodies, by their names in the API description. */
export const bodies = {
  AddUser: addUserBody,
  Answer: answerBody,
  Collect: collectBody,
  Edit: editBody,
  Empty: emptyBody,
  Fork: forkBody,
  GapAnswer: gapAnswerBody,
  Import: importBody,
  Redaction: redactionBody,
  Replay: replayBody,
  Rerun: rerunBody,
  Resume: resumeBody,
  Retry: retryBody,
  Rollback: rollbackBody,
  RotateUser: rotateUserBody,
  Signal: signalBody,
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
  ListQuery: listQuery,
  NoQuery: emptyBody,
  PageQuery: pageQuery,
  PlanFileQuery: planFileQuery,
  PlansQuery: plansQuery,
  RunsQuery: runsQuery,
  SpendingQuery: spendingQuery,
  StateQuery: stateQuery,
  TasksQuery: tasksQuery,
  TransitionsQuery: transitionsQuery,
  UsersQuery: usersQuery,
  WorkflowFormsQuery: workflowFormsQuery,
};

/** Input schemas of operations. */
export const inputs = { ...bodies, ...queries };
