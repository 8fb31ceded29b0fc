/** What watchers see of every agent, and what they can make the agent do. docs/watchers.md shows the outcomes. */
import type { SessionId } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { ask, type ScriptedReply, say, shell } from '../../../../test/agents/model/script.ts'
import type { RunnerFixture } from '../runner-fixture.ts'
import type { WatchMachine } from '../watch-machine.ts'

/** What these scenarios need of an agent: one with its driver, a generator agent, or one in a terminal. */
export interface WatchedAgent extends Pick<RunnerFixture, 'asPerson' | 'agentTexts' | 'answerAll' | 'eventsOf'> {
  readonly watchers: Pick<WatchMachine, 'write'>
  readonly model: { script(marker: string, ...replies: readonly ScriptedReply[]): void }
  start(prompt: string): Promise<SessionId>
  /** Gives the agent another message of the person. */
  send(id: SessionId, text: string): Promise<void>
  /** Waits until a message was refused, and returns the reason that the person reads. */
  refusal(id: SessionId): Promise<string | undefined>
  /** An agent in a terminal that is sent back to work continues in the same turn. */
  readonly goesOnInTurn: boolean
  turnEnd(nth?: number): ReturnType<RunnerFixture['waitForTurnEnd']>
  hasRead(text: string): boolean
  readFile(name: string): string | null
  writeFile(name: string, text: string): void
}
export interface WatchContext {
  readonly agent: WatchedAgent
  readonly has: (capability: string) => boolean
}

const sameTurn = 'same turn'
const nextMessage = 'next message'
const notSeen = 'failure not seen'

function fired({ agent }: WatchContext, name: string): number {
  return agent.eventsOf('watch.fired').filter(({ watcher }) => watcher.name === name).length
}

/** Returns when the model reads the text of a watcher: in the turn that has just ended, or with the next message. */
async function whenRead({ agent }: WatchContext, id: SessionId, text: string, next: string): Promise<string> {
  const isReadAtOnce = agent.hasRead(text)
  agent.model.script(next, say('I know.'))
  await agent.send(id, next)
  await agent.turnEnd(2)
  expect(agent.hasRead(text)).toBe(true)
  return isReadAtOnce ? sameTurn : nextMessage
}

async function start(context: WatchContext): Promise<string> {
  const { agent } = context
  agent.watchers.write({ watch: [{ name: 'context', on: 'start', do: { say: 'The context of the start.' } }] })
  agent.model.script('begin with context', say('I have read it.'))
  await agent.start('begin with context')
  await agent.turnEnd()
  expect(agent.hasRead('The context of the start.')).toBe(true)
  expect(fired(context, 'context')).toBe(1)
  return 'yes'
}

async function prompt({ agent }: WatchContext): Promise<string> {
  const when = 'prompt.text.contains("the refused words")'
  agent.watchers.write({ watch: [{ name: 'refuse', on: 'prompt', when, do: { deny: 'Not these words.' } }] })
  agent.model.script('a harmless message', say('Hello.'))
  const id = await agent.start('a harmless message')
  await agent.turnEnd()
  await agent.send(id, 'the refused words')
  expect(await agent.refusal(id)).toContain('Not these words.')
  expect(agent.hasRead('the refused words')).toBe(false)
  return 'yes'
}

async function denyBefore(context: WatchContext): Promise<string> {
  const { agent } = context
  const deny = { name: 'deny', on: 'before', command: 'touch watched.txt', do: { deny: 'The watcher forbids it.' } }
  agent.watchers.write({ watch: [deny] })
  agent.model.script('make the watched file', shell('touch watched.txt'), say('It did not run.'))
  const id = await agent.start('make the watched file')
  await agent.turnEnd()
  expect(agent.readFile('watched.txt')).toBeNull()
  return whenRead(context, id, 'The watcher forbids it.', 'after the watched file')
}

/** Agents run harmless commands without a question. A watcher can deny such a command only if the driver has every call checked. */
async function denyUnasked({ agent, has }: WatchContext): Promise<string> {
  agent.writeFile('watched-plain.txt', 'the watched plain words')
  agent.watchers.write({
    watch: [{ name: 'deny', on: 'before', command: 'cat watched-plain.txt', do: { deny: 'No.' } }],
  })
  agent.model.script('show the watched file', shell('cat watched-plain.txt', 'call_watched'), say('I tried.'))
  await agent.start('show the watched file')
  await agent.turnEnd()
  const ran = agent.hasRead('the watched plain words')
  if (has('checksEveryTool')) expect(ran).toBe(false)
  return ran ? 'runs unasked' : 'yes'
}

async function sayBefore(context: WatchContext): Promise<string> {
  const { agent } = context
  const before = { name: 'before', on: 'before', command: 'touch said.txt', do: { say: 'A text before the call.' } }
  agent.watchers.write({ watch: [before] })
  agent.model.script('make the said file', shell('touch said.txt'), say('It ran.'))
  const id = await agent.start('make the said file')
  const stop = agent.answerAll(() => ({ kind: 'allow' }))
  await agent.turnEnd()
  stop()
  expect(agent.readFile('said.txt')).toBe('')
  return whenRead(context, id, 'A text before the call.', 'after the said file')
}

async function denyQuestion(context: WatchContext): Promise<string> {
  const { agent, has } = context
  if (!has('questions') && !has('forms')) return '–'
  agent.watchers.write({
    watch: [{ name: 'deny', on: 'before', action: 'question', do: { deny: 'Decide yourself.' } }],
  })
  const question = { header: 'Style', question: 'Tabs or spaces?', options: ['Tabs', 'Spaces'] }
  agent.model.script('ask about style', ask([question], 'call_style'), say('I decide.'))
  const id = await agent.start('ask about style')
  await agent.turnEnd()
  return whenRead(context, id, 'Decide yourself.', 'after the style')
}

/** A command that fails must not count as a success, and its exit code is known for some agents. */
async function resultAfter({ agent }: WatchContext): Promise<string> {
  const set = { failed: '!result.ok', code: 'result.exitCode' }
  const after = { name: 'after', on: 'after', when: 'action.command.contains("no-such-file")', do: { set } }
  agent.watchers.write({ vars: { failed: false, code: -1 }, watch: [after] })
  agent.model.script('list nothing', shell('cat no-such-file'), say('It failed.'))
  const id = await agent.start('list nothing')
  const stop = agent.answerAll(() => ({ kind: 'allow' }))
  await agent.turnEnd()
  stop()
  const { items } = await agent.asPerson('listVariables', { id })
  const [failed, code] = items.map(({ value }) => value)
  if (failed !== true) return notSeen
  return code === 1 ? 'ok, exit code' : 'ok'
}

async function sayAfter(context: WatchContext): Promise<string> {
  const { agent } = context
  const when = 'action.command.contains("after.txt")'
  agent.watchers.write({ watch: [{ name: 'after', on: 'after', when, do: { say: 'A text after the call.' } }] })
  agent.model.script('make the last file', shell('touch after.txt'), say('It ran.'))
  const id = await agent.start('make the last file')
  const stop = agent.answerAll(() => ({ kind: 'allow' }))
  await agent.turnEnd()
  stop()
  expect(agent.readFile('after.txt')).toBe('')
  return whenRead(context, id, 'A text after the call.', 'after the last file')
}

async function stop(context: WatchContext): Promise<string> {
  const { agent } = context
  const remind = { name: 'remind', on: 'stop', times: 1, do: { say: 'Look once more.' } }
  agent.watchers.write({ watch: [remind] })
  agent.model.script('stop early', say('I stop.'))
  agent.model.script('Look once more.', say('I have looked.'))
  await agent.start('stop early')
  await agent.turnEnd(agent.goesOnInTurn ? 1 : 2)
  expect(agent.agentTexts().at(-1)).toBe('I have looked.')
  return 'sent back'
}

/** The amounts that the agent reports, and that a limit can count besides turns and minutes. */
async function limit({ agent }: WatchContext): Promise<string> {
  agent.model.script('use some tokens', say('Done.'))
  await agent.start('use some tokens')
  const { usage, cost } = await agent.turnEnd()
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)
  const reported = [...(tokens > 0 ? ['tokens'] : []), ...(cost ? ['cost'] : [])]
  return reported.length === 0 ? 'turns, minutes' : ['turns, minutes', ...reported].join(', ')
}

export const watchScenarios = {
  start: ['start: `say` is read with the first message', start],
  prompt: ['prompt: `deny` refuses a message', prompt],
  denyBefore: ['before: the model reads the sentence of a `deny`', denyBefore],
  denyUnasked: ['before: `deny` of `cat plain.txt`, which many agents run without asking', denyUnasked],
  sayBefore: ['before: `say` is read', sayBefore],
  denyQuestion: ['before a question: the model reads the sentence of a `deny`', denyQuestion],
  resultAfter: ['after: the result of a command that fails', resultAfter],
  sayAfter: ['after: `say` is read', sayAfter],
  stop: ['stop: `say` and `deny`', stop],
  limit: ['what a `limit` can count', limit],
} as const satisfies Readonly<Record<string, readonly [string, (context: WatchContext) => Promise<string>]>>
export type WatchScenarioName = keyof typeof watchScenarios
