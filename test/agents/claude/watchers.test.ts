/** Tests ready-made watchers with the real Claude Code, the whole program and a scripted model: each effect happens once, also if the start of the session was missed, if the gateway, its runner or both are killed between the event and its effect, and on two gateways. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer, CommandId, EventType, Request, SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bash,
  claudeEnvironment,
  type ModelCall,
  type ModelScript,
  say,
  TestModel,
  toolUse,
} from '../../../packages/drivers/test/claude/model.ts'
import { EventRecorder, isEvent } from '../../support/event-recorder.ts'
import { closeGateways, type GatewayProcess, shortPause, startGateway } from '../../support/gateway.ts'
import { freshDatabase, hasPostgres, type TestDatabase } from '../../support/postgres.ts'

/** A session in one test, and what its person does. */
interface Played {
  readonly id: SessionId
  readonly cwd: string
  send(text: string): Promise<void>
  setVariable(name: string, value: string | number): Promise<unknown>
  requests(): readonly Request[]
}

interface Use {
  readonly name: string
  /** The entry of the file of watchers. */
  readonly entry: object | string
  /** What the model does once the person has written “act now”. It goes by what it has read, so that it also continues after a turn was lost. */
  readonly script: (call: ModelCall, hasRead: (text: string) => boolean) => ReturnType<ModelScript>
  readonly files?: Readonly<Record<string, string>>
  /** Whether the watcher acts at the first moment that it sees, so its file is always written after the first turn. */
  readonly actsFirst?: boolean
  readonly prepare?: (played: Played) => Promise<unknown>
  readonly answerTo?: (request: Request, played: Played) => Promise<Answer> | Answer
  /** Where processes are killed: the event is committed, and the agent has not been given the effect. */
  readonly eventPoint: string
  /** Where the gateway and its runner are killed, if that is another point. */
  readonly runnerPoint?: string
  /** Checks that the watcher had its effect once. */
  readonly check: (played: Played) => void | Promise<void>
}

const model = await TestModel.open(call => {
  if (!use || !call.conversation.includes('act now')) return [say('ready')]
  return use.script(call, text => call.conversation.includes(JSON.stringify(text).slice(1, -1)))
})
let use: Use | undefined
let calls = 0
const nextId = () => `toolu_${++calls}`
const done = [say('done')]
/** How often the last conversation contains a text. */
const timesRead = (text: string) => (model.calls.at(-1)?.conversation.split(text).length ?? 1) - 1
const textOf = (cwd: string, name: string) =>
  existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8') : null

const notPassed = 'The tests have not passed since the last change.'
const noTask = 'No task is named yet.'
const reminder = 'Files were changed, and npm test has not passed since.'
const uses: readonly Use[] = [
  {
    name: 'tests-before-commit',
    entry: { name: 'tests-before-commit', with: { tests: 'sh run-tests.sh', commit: 'sh commit.sh' } },
    files: { 'run-tests.sh': 'echo all passed', 'commit.sh': 'echo commit >> commits.txt; echo is committed' },
    script: (_, hasRead) => {
      if (hasRead('is committed')) return done
      if (hasRead(notPassed) && !hasRead('all passed')) return [bash('sh run-tests.sh', nextId())]
      return [bash('sh commit.sh', nextId())]
    },
    eventPoint: 'committed:check',
    check: ({ cwd }) => {
      expect(textOf(cwd, 'commits.txt')).toBe('commit\n')
      expect(timesRead(notPassed)).toBe(1)
    },
  },
  {
    name: 'reminder-at-stop',
    entry: 'reminder-at-stop',
    script: ({ results }, hasRead) =>
      results.length === 0
        ? [toolUse('Write', { file_path: join(cwd, 'a.txt'), content: 'new' }, nextId())]
        : [say(hasRead(reminder) ? 'I stop anyway.' : 'I am done.')],
    // The end of the turn is committed with the reminder, and the runner has not taken the reminder yet.
    eventPoint: 'committed:taken,begun:takeCommand',
    check: ({ id }) => {
      expect(timesRead(reminder)).toBe(1)
      const messages = recorded(id, 'command.added').map(({ value }) => value.madeBy)
      expect(messages.filter(madeBy => madeBy === 'watcher reminder-at-stop')).toHaveLength(1)
    },
  },
  {
    name: 'no-questions',
    entry: 'no-questions',
    prepare: played => played.setVariable('directive', 'Use spaces.'),
    script: (_, hasRead) => {
      const options = ['Yes', 'No'].map(label => ({ label, description: label }))
      const questions = [{ question: 'Tabs?', header: 'Style', options, multiSelect: false }]
      const ends = hasRead('ask once more') ? '"Tabs?"="No"' : 'act on the directive: Use spaces.'
      return hasRead(ends) ? done : [toolUse('AskUserQuestion', { questions }, nextId())]
    },
    answerTo: () => ({ kind: 'answers', answers: [{ id: 'q1', chosen: ['No'] }] }),
    eventPoint: 'committed:check',
    check: async played => {
      expect(played.requests()).toEqual([])
      expect(timesRead('act on the directive: Use spaces.')).toBe(1)
      await played.setVariable('directive', '')
      await played.send('ask once more')
      expect(played.requests()).toHaveLength(1)
      expect(timesRead('act on the directive: Use spaces.')).toBe(1)
    },
  },
  {
    name: 'budget',
    entry: { name: 'budget', with: { turns: 1 } },
    // Turns are counted from the moment at which the watcher exists.
    prepare: played => played.send('begin again'),
    script: (_, hasRead) => {
      if (hasRead('work on') && !hasRead('the second result')) return [bash('echo the second result', nextId())]
      return hasRead('the first result') ? done : [bash('echo the first result | tee -a work.txt', nextId())]
    },
    answerTo: async ({ watcher }, played) => {
      expect(watcher).toMatchObject({ name: 'budget' })
      await played.setVariable('limit_budget', 10)
      return { kind: 'allow' }
    },
    eventPoint: 'committed:check',
    runnerPoint: 'committed:open',
    check: async played => {
      expect(textOf(played.cwd, 'work.txt')).toBe('the first result\n')
      await played.send('work on')
      expect(played.requests()).toHaveLength(1)
    },
  },
  {
    name: 'loop-guard',
    entry: 'loop-guard',
    script: (_, hasRead) => (hasRead('Enough.') ? done : [bash('echo again | tee -a again.txt', nextId())]),
    answerTo: ({ watcher }) =>
      watcher?.name === 'loop-guard' ? { kind: 'deny', reason: 'Enough.' } : { kind: 'allow' },
    eventPoint: 'committed:check#3',
    runnerPoint: 'committed:open#3',
    check: ({ cwd, requests }) => {
      expect(textOf(cwd, 'again.txt')).toBe('again\nagain\n')
      expect(requests().map(({ watcher }) => watcher?.name)).toEqual([undefined, undefined, 'loop-guard'])
    },
  },
  {
    name: 'no-edits-outside',
    entry: 'no-edits-outside',
    prepare: async () => rmSync(outside, { force: true }),
    // The quotes keep the text of the result out of the call.
    script: (_, hasRead) =>
      hasRead('written outside') ? done : [bash('echo "written"" outside" | tee -a ../outside.txt', nextId())],
    answerTo: ({ watcher }) => {
      expect(watcher).toMatchObject({ name: 'no-edits-outside' })
      return { kind: 'allow' }
    },
    eventPoint: 'committed:check',
    runnerPoint: 'committed:open',
    check: ({ requests }) => {
      expect(readFileSync(outside, 'utf8')).toBe('written outside\n')
      expect(requests()).toHaveLength(1)
    },
  },
  {
    name: 'task-first',
    entry: 'task-first',
    script: (_, hasRead) => {
      if (hasRead('is created')) return done
      if (!hasRead(noTask)) return [bash('rm -f old.txt; echo "is"" created" | tee -a new.txt', nextId())]
      if (hasRead('task is now')) return [bash('rm -f old.txt; echo "is"" created" | tee -a new.txt', nextId())]
      return [toolUse('mcp__holdpoint-session__set_variable', { name: 'task', value: '#12' }, nextId())]
    },
    eventPoint: 'committed:check',
    check: ({ cwd, requests }) => {
      expect(textOf(cwd, 'new.txt')).toBe('is created\n')
      expect(timesRead(noTask)).toBe(1)
      expect(requests()).toHaveLength(1)
    },
  },
  {
    name: 'context-at-start',
    actsFirst: true,
    entry: { name: 'context-at-start', with: { text: 'Releases are made by CI.' } },
    script: ({ results }) => (results.length > 0 ? done : [bash('pwd', nextId())]),
    eventPoint: 'committed:moment',
    check: async played => {
      expect(timesRead('Releases are made by CI.')).toBe(1)
      await played.send('once more')
      expect(timesRead('Releases are made by CI.')).toBe(1)
    },
  },
  {
    name: 'quiet-hours',
    entry: { name: 'quiet-hours', with: { from: 0, to: 24 } },
    // Nothing listens at this port.
    script: (_, hasRead) =>
      hasRead('fetched nothing')
        ? done
        : [bash('curl -s http://127.0.0.1:9/; echo "fetched"" nothing" | tee -a log.txt', nextId())],
    answerTo: ({ watcher }) => {
      expect(watcher).toMatchObject({ name: 'quiet-hours' })
      return { kind: 'allow' }
    },
    eventPoint: 'committed:check',
    runnerPoint: 'committed:open',
    check: ({ cwd, requests }) => {
      expect(textOf(cwd, 'log.txt')).toBe('fetched nothing\n')
      expect(requests()).toHaveLength(1)
    },
  },
]

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-claude-watchers-')))
const cwd = join(folder, 'project')
/** A file outside of the folder of the session. */
const outside = join(folder, 'outside.txt')
const env = Object.fromEntries(
  Object.entries(claudeEnvironment(model, folder)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  ),
)
/** The gateway whose runner runs Claude Code, and which has the file of watchers. */
let gateway: GatewayProcess
/** The gateway through which the person answers. */
let ofPerson: GatewayProcess
let recorder: EventRecorder

afterAll(async () => {
  await closeGateways()
  await model.server.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const recorded = <T extends EventType>(id: SessionId, type: T) => recorder.events.filter(isEvent(id, type))

type Victims = 'gateway' | 'gateway and runner' | 'runner'
interface Situation {
  readonly missesStart?: boolean
  readonly victims?: Victims
}

/** Plays a use in a new session: a first turn, and then the turn in which the watcher acts. */
async function play(next: Use, { missesStart = next.actsFirst ?? false, victims }: Situation): Promise<void> {
  use = next
  rmSync(cwd, { recursive: true, force: true, maxRetries: 5 })
  mkdirSync(cwd)
  for (const [name, text] of Object.entries(next.files ?? {})) writeFileSync(join(cwd, name), text)
  rmSync(gateway.home.rulesFile, { force: true })
  const writeWatchers = () => writeFileSync(gateway.home.rulesFile, JSON.stringify({ use: [next.entry] }))
  if (!missesStart) writeWatchers()
  recorder = await EventRecorder.connect(ofPerson.url, ofPerson.token)
  const { id } = await gateway.call('startSession', { driver: 'claude', cwd, prompt: 'begin', parkAfterMs: null })
  const played = describePlayed(id)
  const answering = answerRequests(next, played, victims === 'runner' ? killRunner : () => {})
  await settled(id, 1)
  if (missesStart) {
    expect(recorded(id, 'watch.fired')).toEqual([])
    writeWatchers()
  }
  await next.prepare?.(played)
  const crashed = victims !== undefined && victims !== 'runner' ? killAt(next, victims) : null
  await crashed?.armed
  await played.send('act now')
  await crashed?.restarted
  await next.check(played)
  const firings = recorded(id, 'watch.fired').map(({ watcher, moment, key }) => `${watcher.name} ${moment} ${key}`)
  expect(firings).toEqual([...new Set(firings)])
  await gateway.call('endSession', { id })
  await recorder.waitFor(isEvent(id, 'session.ended'))
  await recorder.close()
  answering.stop()
}

function describePlayed(id: SessionId): Played {
  return {
    id,
    cwd,
    send: async text => {
      const commands = recorded(id, 'command.added').length
      await ofPerson.call('sendMessage', { id, text })
      await settled(id, commands + 1)
    },
    setVariable: (name, value) => ofPerson.call('setVariable', { id, name, value }),
    requests: () => recorded(id, 'request.opened').map(({ value }) => value),
  }
}

/** Answers the requests of the session as its person, through the gateway of the person. Calls `beforeAnswer` before it answers a request of a watcher. */
function answerRequests(
  { answerTo = () => ({ kind: 'allow' as const }) }: Use,
  played: Played,
  beforeAnswer: () => void,
) {
  const isOpened = isEvent(played.id, 'request.opened')
  let hasStopped = false
  const answers = async () => {
    for (let from = 0; !hasStopped; ) {
      const request = await recorder.waitFor(event => isOpened(event) || hasStopped, from)
      from = recorder.events.indexOf(request) + 1
      if (!isOpened(request)) continue
      const { id, digest, watcher } = request.value
      if (watcher) beforeAnswer()
      await ofPerson.call('answerRequest', { id, digest, answer: await answerTo(request.value, played) })
    }
  }
  const running = answers()
  running.catch(() => {})
  return {
    stop: () => {
      hasStopped = true
    },
  }
}

/** Waits until the session has carried out all of its commands, and at least this number. If a turn was lost, the person sends another message, as the session tells them to. */
async function settled(id: SessionId, atLeast: number): Promise<void> {
  const lost = new Set<CommandId>()
  for (;;) {
    const seen = recorder.events.length
    const added = recorded(id, 'command.added').length
    const finished = recorded(id, 'command.done')
    const last = finished.at(-1)
    if (added >= atLeast && finished.length === added && last) {
      if (last.outcome.ok || lost.has(last.command)) return
      expect(last.outcome.reason).toContain('The runner was lost in the middle of the turn')
      lost.add(last.command)
      await ofPerson.call('sendMessage', { id, text: 'go on' })
    }
    await recorder.waitFor(() => true, seen)
  }
}

/** Kills the runner, and Claude Code with it. The gateway starts another runner. */
function killRunner(): void {
  process.kill(gateway.runnerPid() ?? Number.NaN, 'SIGKILL')
}

/** Makes the gateway kill itself at the point of a use. Its runner is killed while no gateway runs, so it never gets the reply. */
function killAt({ eventPoint, runnerPoint = eventPoint }: Use, victims: Exclude<Victims, 'runner'>) {
  const armed = (async () => {
    await gateway.kill()
    await gateway.start({ ...env, HOLDPOINT_CRASH_AT: victims === 'gateway' ? eventPoint : runnerPoint })
  })()
  const restarted = armed.then(async () => {
    expect((await gateway.exited).signal).toBe('SIGKILL')
    if (victims === 'gateway and runner') await gateway.killRunner()
    await gateway.start(env)
  })
  restarted.catch(() => {}) // the promise is awaited after the turn
  return { armed, restarted }
}

/** Waits until the runner offers Claude Code. */
async function waitForClaude(): Promise<void> {
  for (;;) {
    const { items } = await gateway.call('listDrivers', {})
    if (items.some(({ name, ready }) => name === 'claude' && ready)) return
    await shortPause()
  }
}

describe('watchers with Claude Code in the whole program', () => {
  beforeAll(async () => {
    gateway = await startGateway({ env })
    ofPerson = gateway
    await waitForClaude()
  })
  afterAll(closeGateways)

  it.each(uses)('$name acts once with Claude Code if the start of the session was missed', async each => {
    await play(each, { missesStart: true })
  })
  it.each(uses)('$name acts once with Claude Code if the gateway is killed before the effect', async each => {
    await play(each, { victims: 'gateway' })
  })
  it.each(uses)('$name acts once with Claude Code if gateway and runner are killed before the effect', async each => {
    await play(each, { victims: 'gateway and runner' })
  })
  it.each(uses.filter(each => each.runnerPoint !== undefined))(
    '$name acts once with Claude Code if the runner is killed before the answer',
    async each => {
      const runner = gateway.runnerPid()
      await play(each, { victims: 'runner' })
      expect(gateway.runnerPid()).not.toBe(runner)
    },
  )
})

if (await hasPostgres())
  describe('watchers with Claude Code on two gateways with one PostgreSQL', () => {
    let database: TestDatabase
    beforeAll(async () => {
      database = await freshDatabase()
      gateway = await startGateway({ env, store: database.url })
      ofPerson = await startGateway({ runner: 'none', store: database.url })
      await waitForClaude()
    })
    afterAll(async () => {
      await closeGateways()
      await database.drop()
    })

    it.each(uses)('$name acts once with Claude Code on two gateways, one of which is killed', async each => {
      await play(each, { victims: 'gateway' })
    })
  })
