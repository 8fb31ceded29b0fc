/** The table of operations: the function that runs each operation of the contract. */
import { Fault, formatCursor, type OperationName, type ParsedInput } from '@holdpoint/protocol'
import type { Context } from './context.ts'
import type { Caller, DispatchOptions, OperationResult } from './gateway.ts'
import {
  attachSession,
  checkTool,
  detachSession,
  finishCommand,
  listCommands,
  renewSession,
  takeCommand,
} from './operations/agent.ts'
import { appendEvents } from './operations/agent-events.ts'
import { answerRequest, answerRequests, checkInput } from './operations/answers.ts'
import { addAttachment, appendAttachment, getAttachmentPart } from './operations/attachments.ts'
import { listAudit } from './operations/audit.ts'
import { handOverRequest, reportDelivery, withdrawRequest } from './operations/delivery.ts'
import { deleteDraft, getDraft, putDraft } from './operations/drafts.ts'
import { listEvents } from './operations/events.ts'
import { getRequest, listRequests, openRequest } from './operations/requests.ts'
import { addRule, checkRules, listRules, patchRule, previewRule, proposeRules, removeRule } from './operations/rules.ts'
import {
  announceRunner,
  checkFolder,
  listDrivers,
  listRunners,
  listWork,
  renewRunner,
  retireRunner,
} from './operations/runners.ts'
import { getSession, listSessions } from './operations/session-queries.ts'
import {
  deleteSession,
  endSession,
  interruptSession,
  patchSession,
  sendMessage,
  startSession,
  stopEverything,
} from './operations/sessions.ts'
import { rotateToken } from './operations/token-rotation.ts'
import { addToken, listTokens, makeLink, removeToken, signOut } from './operations/tokens.ts'
import { listVariables, listWatchers, reportMoment, setAgentVariable, setVariable } from './operations/watchers.ts'

export type Operation<K extends OperationName> = (
  ctx: Context,
  caller: Caller,
  input: ParsedInput<K>,
  options: DispatchOptions,
) => Promise<OperationResult<unknown>>
type Operations = { readonly [K in OperationName]: Operation<K> }

export const operations: Operations = {
  listDrivers,
  checkFolder,
  startSession,
  listSessions,
  getSession,
  patchSession,
  sendMessage,
  addAttachment,
  appendAttachment,
  getAttachmentPart,
  interruptSession,
  endSession,
  deleteSession,
  stopEverything,
  listEvents,
  listRequests,
  getRequest,
  answerRequest,
  answerRequests,
  checkInput,
  putDraft,
  getDraft,
  deleteDraft,
  openRequest,
  appendEvents,
  checkTool,
  reportMoment,
  setAgentVariable,
  withdrawRequest,
  handOverRequest,
  reportDelivery,
  attachSession,
  detachSession,
  renewSession,
  listCommands,
  takeCommand,
  finishCommand,
  announceRunner,
  renewRunner,
  retireRunner,
  listWork,
  listRunners,
  listRules,
  addRule,
  patchRule,
  removeRule,
  previewRule,
  proposeRules,
  checkRules,
  listWatchers,
  listVariables,
  setVariable,
  listAudit,
  listTokens,
  addToken,
  removeToken,
  rotateToken,
  signOut,
  makeLink,
  signIn: async () => {
    throw new Fault('unsupported', 'signIn sets a cookie, so it needs HTTP.')
  },
  describeLink: async () => {
    throw new Fault('unsupported', 'describeLink counts wrong codes by address, so it needs HTTP.')
  },
  proveGateway: async () => {
    throw new Fault('unsupported', 'proveGateway is about the address of a connection, so it needs HTTP over TCP.')
  },
  whoAmI: async (ctx, caller) => ({
    status: 200,
    body: { person: caller.name, id: caller.id, token: caller.token, role: caller.role, now: await ctx.store.now() },
  }),
  backup: async (ctx, _caller, input) => {
    const { epoch, seq } = ctx.feed.position
    return {
      status: 200,
      body: { file: input.file, ...(await ctx.store.backup(input.file)), cursor: formatCursor(epoch, seq) },
    }
  },
}
