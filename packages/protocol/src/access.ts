/** The access table says what each role may do. The gateway checks every call and every stream against this table, and nothing else decides by role alone. To add a role, add a column. */
import { z } from 'zod'
import type { Answer } from './answer.ts'
import type { Ask } from './ask.ts'
import type { OperationName } from './contract.ts'

export const Role = z
  .enum(['owner', 'person', 'runner', 'agent'])
  .describe(
    'Who a credential belongs to. "owner": the person who runs this gateway. "person": someone who may answer. "runner": a process that runs agents. "agent": a program that asks.',
  )
export type Role = z.infer<typeof Role>

/** The columns of the table. `nobody` is a caller without a credential. */
export const accessColumns = ['nobody', 'owner', 'person', 'runner', 'agent'] as const satisfies readonly (
  | Role
  | 'nobody'
)[]

/** `own`: only sessions, requests, links and runners that belong to the caller. For those of others, the gateway replies as if they did not exist. */
export type Access = 'all' | 'own' | 'no'
type AccessRow = readonly [nobody: Access, owner: Access, person: Access, runner: Access, agent: Access]

/** Actions that a call may need in addition to its operation because of its input, and actions that are not operations. */
export type ExtraAction =
  /** Open the event stream. */
  | 'subscribe'
  /** Start an agent in a chosen mode, or with options such as MCP servers, which can run programs that nobody is asked about. */
  | 'startSession.mode'
  | 'startSession.options'
  /** Change the mode of a session, which changes what its agent asks about. */
  | 'patchSession.mode'
  | 'answer.mode'
  /** Accept a suggestion that changes stored settings of the agent's program. */
  | 'answer.settings'
  /** Add or remember a rule that allows something, change one, or resume one. */
  | 'rule.allow'
  /** Change, pause or remove a rule that somebody else or a file has added. */
  | 'rule.others'
  /** Create a link that signs in somebody else. */
  | 'makeLink.person'

export const accessTable: Readonly<Record<OperationName | ExtraAction, AccessRow>> = {
  // nobody, owner, person, runner, agent
  listDrivers: ['no', 'all', 'all', 'all', 'all'],
  checkFolder: ['no', 'all', 'all', 'no', 'no'],
  startSession: ['no', 'all', 'all', 'no', 'own'],
  'startSession.mode': ['no', 'all', 'no', 'no', 'no'],
  'startSession.options': ['no', 'all', 'no', 'no', 'no'],
  listSessions: ['no', 'all', 'all', 'own', 'own'],
  getSession: ['no', 'all', 'all', 'own', 'own'],
  patchSession: ['no', 'all', 'all', 'no', 'no'],
  'patchSession.mode': ['no', 'all', 'no', 'no', 'no'],
  sendMessage: ['no', 'all', 'all', 'no', 'no'],
  addAttachment: ['no', 'all', 'all', 'no', 'no'],
  appendAttachment: ['no', 'own', 'own', 'no', 'no'],
  getAttachmentPart: ['no', 'all', 'all', 'own', 'own'],
  interruptSession: ['no', 'all', 'all', 'no', 'no'],
  endSession: ['no', 'all', 'all', 'no', 'no'],
  deleteSession: ['no', 'all', 'no', 'no', 'no'],
  stopEverything: ['no', 'all', 'no', 'no', 'no'],
  listEvents: ['no', 'all', 'all', 'own', 'own'],
  subscribe: ['no', 'all', 'all', 'no', 'own'],
  listRequests: ['no', 'all', 'all', 'own', 'own'],
  getRequest: ['no', 'all', 'all', 'own', 'own'],
  answerRequest: ['no', 'all', 'all', 'no', 'no'],
  answerRequests: ['no', 'all', 'all', 'no', 'no'],
  checkInput: ['no', 'all', 'all', 'no', 'no'],
  'answer.mode': ['no', 'all', 'no', 'no', 'no'],
  'answer.settings': ['no', 'all', 'no', 'no', 'no'],
  putDraft: ['no', 'own', 'own', 'no', 'no'],
  getDraft: ['no', 'own', 'own', 'no', 'no'],
  deleteDraft: ['no', 'own', 'own', 'no', 'no'],
  openRequest: ['no', 'own', 'own', 'own', 'own'],
  appendEvents: ['no', 'own', 'own', 'own', 'own'],
  checkTool: ['no', 'own', 'own', 'own', 'own'],
  reportMoment: ['no', 'own', 'own', 'own', 'own'],
  setAgentVariable: ['no', 'all', 'all', 'own', 'own'],
  withdrawRequest: ['no', 'own', 'own', 'own', 'own'],
  handOverRequest: ['no', 'own', 'own', 'own', 'own'],
  reportDelivery: ['no', 'own', 'own', 'own', 'own'],
  attachSession: ['no', 'own', 'own', 'own', 'own'],
  detachSession: ['no', 'own', 'own', 'own', 'own'],
  renewSession: ['no', 'own', 'own', 'own', 'own'],
  listCommands: ['no', 'all', 'all', 'own', 'own'],
  takeCommand: ['no', 'own', 'own', 'own', 'own'],
  finishCommand: ['no', 'own', 'own', 'own', 'own'],
  announceRunner: ['no', 'no', 'no', 'own', 'no'],
  renewRunner: ['no', 'no', 'no', 'own', 'no'],
  retireRunner: ['no', 'all', 'no', 'own', 'no'],
  listWork: ['no', 'no', 'no', 'own', 'no'],
  listRunners: ['no', 'all', 'all', 'own', 'no'],
  listRules: ['no', 'all', 'all', 'no', 'no'],
  addRule: ['no', 'all', 'all', 'no', 'no'],
  patchRule: ['no', 'all', 'all', 'no', 'no'],
  removeRule: ['no', 'all', 'all', 'no', 'no'],
  'rule.allow': ['no', 'all', 'no', 'no', 'no'],
  'rule.others': ['no', 'all', 'no', 'no', 'no'],
  previewRule: ['no', 'all', 'all', 'no', 'no'],
  proposeRules: ['no', 'all', 'all', 'no', 'no'],
  checkRules: ['no', 'all', 'all', 'no', 'no'],
  listWatchers: ['no', 'all', 'all', 'no', 'no'],
  listVariables: ['no', 'all', 'all', 'own', 'own'],
  setVariable: ['no', 'all', 'all', 'no', 'no'],
  listAudit: ['no', 'all', 'all', 'no', 'no'],
  listTokens: ['no', 'all', 'no', 'no', 'no'],
  addToken: ['no', 'all', 'no', 'no', 'no'],
  removeToken: ['no', 'all', 'no', 'no', 'no'],
  rotateToken: ['no', 'all', 'no', 'no', 'no'],
  signIn: ['all', 'all', 'all', 'all', 'all'],
  describeLink: ['all', 'all', 'all', 'all', 'all'],
  proveGateway: ['all', 'all', 'all', 'all', 'all'],
  signOut: ['no', 'own', 'own', 'no', 'no'],
  makeLink: ['no', 'own', 'own', 'no', 'no'],
  'makeLink.person': ['no', 'all', 'no', 'no', 'no'],
  whoAmI: ['no', 'own', 'own', 'own', 'own'],
  backup: ['no', 'all', 'no', 'no', 'no'],
}

export function accessOf(role: Role | 'nobody', action: OperationName | ExtraAction): Access {
  return accessTable[action][accessColumns.indexOf(role)] ?? 'no'
}

/** Returns the roles that may call an operation, and `nobody` if it needs no credential. */
export function rolesFor(op: OperationName): readonly (Role | 'nobody')[] {
  return accessColumns.filter(role => accessOf(role, op) !== 'no')
}

/** Returns the further actions that an answer needs permission for. A suggestion whose scope is the session counts as a plain allow. A suggestion with another scope changes settings that outlast the session. */
export function answerActions(ask: Ask, answer: Answer): readonly ExtraAction[] {
  if (ask.kind !== 'approval' || answer.kind !== 'allow') return []
  const chosen = ask.suggestions?.find(({ id }) => id === answer.suggestion)
  return [
    ...(answer.mode === undefined && chosen?.mode === undefined ? [] : ['answer.mode' as const]),
    ...(answer.remember === undefined ? [] : ['rule.allow' as const]),
    ...(chosen === undefined || sessionScopes.has(chosen.scope) ? [] : ['answer.settings' as const]),
  ]
}
/** Scopes that end with the session. Claude Code calls one of them `cliArg`. */
const sessionScopes = new Set(['session', 'cliArg'])
