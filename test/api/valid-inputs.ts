/** A valid input for every operation. The type makes sure that a new operation gets one, so that the tests of the whole API cover it. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  type Input,
  type OperationName,
  type PersonId,
  type RuleId,
  type RunnerId,
  type TokenId,
  tokenHintLength,
} from '@holdpoint/protocol'
import { approval } from '../../packages/server/test/test-server.ts'
import type { Actor } from './actors.ts'

export interface ApiActors {
  readonly owner: Actor
  readonly person: Actor
  readonly runner: Actor
  readonly agent: Actor
  /** A folder on the gateway's machine for backups. */
  readonly folder: string
}
type ValidInputs = { readonly [K in OperationName]: (actor: Actor, actors: ApiActors) => Promise<Input<K>> | Input<K> }

const hex = (text: string) => createHash('sha256').update(text).digest('hex')
const sessionId = async (actor: Actor) => ({ id: (await actor.session()).id })
const requestOf = async (actor: Actor) => {
  const { request, session } = await actor.request()
  return { id: request.id, ...fenceOf(session) }
}
const resolvedOf = async (actor: Actor) => {
  const { request, session } = await actor.resolvedRequest()
  return { id: request.id, ...fenceOf(session) }
}
const commandOf = async (actor: Actor) => {
  const { command, session } = await actor.command()
  return { id: command.id, ...fenceOf(session) }
}
const fenceOf = ({ fence }: { readonly fence?: number }) => (fence === undefined ? {} : { fence })
const answerOf = async (actor: Actor) => {
  const { request } = await actor.request()
  return { id: request.id, digest: request.digest, answer: { kind: 'deny' as const } }
}
/** A person may change only rules of their own. */
const ruleId = async (actor: Actor, { owner }: ApiActors): Promise<{ id: RuleId }> => {
  const author = actor.role === 'person' ? actor : owner
  const { id } = await author.call('addRule', { effect: 'ask', tool: 'a tool that nobody has' })
  return { id }
}
const tokenId = async (_actor: Actor, { owner }: ApiActors): Promise<{ id: TokenId }> => {
  const { id } = await owner.call('addToken', { role: 'agent', name: 'somebody' })
  return { id }
}
const linkCode = async (_actor: Actor, { owner }: ApiActors) => ({ code: (await owner.call('makeLink', {})).code })
const runnerOf = (actor: Actor, { runner }: ApiActors): Actor => (actor.runner ? actor : runner)
const runnerInput = async (actor: Actor, actors: ApiActors): Promise<{ id: RunnerId; incarnation: number }> => {
  const own = runnerOf(actor, actors)
  return { id: own.runner as RunnerId, incarnation: await own.incarnation() } // `runnerOf` returns a runner
}

export const validInputs: ValidInputs = {
  listDrivers: () => ({}),
  checkFolder: (actor, actors) => ({ runner: runnerOf(actor, actors).runner as RunnerId, path: '/' }), // `runnerOf` returns a runner
  startSession: () => ({ driver: 'external' }),
  listSessions: () => ({}),
  getSession: sessionId,
  patchSession: async actor => ({ ...(await sessionId(actor)), title: 'another title' }),
  sendMessage: async actor => ({ ...(await sessionId(actor)), text: 'hello' }),
  addAttachment: async actor => ({
    ...(await sessionId(actor)),
    type: 'image',
    mediaType: 'image/png',
    data: 'AAAA',
  }),
  appendAttachment: async actor => {
    const full = Buffer.alloc(180 * 1024).toString('base64')
    const file = { type: 'image', mediaType: 'image/png', data: full } as const
    const { id } = await actor.call('addAttachment', { ...(await sessionId(actor)), ...file })
    return { id, part: 1, data: 'AAAA' }
  },
  getAttachmentPart: async actor => ({ id: await actor.attachment(), part: 0 }),
  interruptSession: sessionId,
  endSession: sessionId,
  deleteSession: async actor => {
    const { id } = await actor.session()
    await actor.call('endSession', { id })
    await actor.call('detachSession', { id })
    return { id }
  },
  stopEverything: () => ({}),
  listEvents: sessionId,
  listRequests: async actor => ({ session: (await actor.session()).id }),
  getRequest: async actor => ({ id: (await requestOf(actor)).id }),
  answerRequest: answerOf,
  answerRequests: async actor => ({ items: [await answerOf(actor)] }),
  checkInput: async actor => ({ id: (await answerOf(actor)).id, input: { command: 'ls' } }),
  putDraft: async actor => ({ id: (await requestOf(actor)).id, draft: { text: 'unfinished' } }),
  getDraft: async actor => ({ id: (await requestOf(actor)).id }),
  deleteDraft: async actor => ({ id: (await requestOf(actor)).id }),
  openRequest: async actor => ({ ...(await actor.session()), key: actor.key(), ask: approval('a') }),
  appendEvents: async actor => ({
    ...(await actor.session()),
    items: [{ type: 'message.added', block: 'b', text: 'hello' }],
  }),
  checkTool: async actor => ({ ...(await actor.session()), tool: 'Bash', input: { command: 'ls' } }),
  reportMoment: async actor => ({ ...(await actor.session()), moment: 'prompt', key: actor.key(), text: 'hello' }),
  setAgentVariable: async actor => ({ ...(await actor.session()), name: 'counter', value: 1 }),
  withdrawRequest: requestOf,
  handOverRequest: resolvedOf,
  reportDelivery: async actor => ({ ...(await resolvedOf(actor)), state: 'handed' }),
  attachSession: async (actor, { owner }) => {
    if (!actor.runner) return sessionId(actor)
    const incarnation = await actor.incarnation()
    const { id } = await owner.call('startSession', { driver: 'test' })
    return { id, runner: actor.runner, incarnation }
  },
  detachSession: actor => actor.session(),
  renewSession: actor => actor.session(),
  listCommands: sessionId,
  takeCommand: commandOf,
  finishCommand: commandOf,
  announceRunner: (actor, actors) => ({
    id: runnerOf(actor, actors).runner as RunnerId, // `runnerOf` returns a runner
    name: 'a runner',
    drivers: [],
  }),
  renewRunner: runnerInput,
  retireRunner: runnerInput,
  listWork: runnerInput,
  listRunners: () => ({}),
  listRules: () => ({}),
  addRule: () => ({ effect: 'ask', tool: 'a tool that nobody has' }),
  patchRule: async (actor, actors) => ({ ...(await ruleId(actor, actors)), paused: true }),
  removeRule: ruleId,
  previewRule: () => ({ rule: { effect: 'ask', tool: 'a tool that nobody has' } }),
  proposeRules: async actor => ({ id: (await requestOf(actor)).id }),
  checkRules: () => ({ ask: approval('a') }),
  listWatchers: () => ({}),
  listVariables: sessionId,
  setVariable: async actor => ({ ...(await sessionId(actor)), name: 'counter', value: 1 }),
  listAudit: () => ({}),
  listTokens: () => ({}),
  addToken: () => ({ role: 'agent', name: 'somebody' }),
  removeToken: tokenId,
  rotateToken: tokenId,
  signIn: linkCode,
  describeLink: linkCode,
  proveGateway: (_actor, { owner }) => ({ hint: hex(owner.token).slice(0, tokenHintLength), nonce: hex('nonce') }),
  signOut: () => ({}),
  makeLink: async (actor, { owner, person }) => {
    if (actor.role !== 'owner') return {}
    const { items } = await owner.call('listTokens', {})
    const { token } = await person.call('whoAmI', {})
    return { person: items.find(({ id }) => id === token)?.person as PersonId } // the token belongs to a person
  },
  whoAmI: () => ({}),
  backup: (actor, { folder }) => ({ file: join(folder, `${actor.key()}.backup`) }),
}
