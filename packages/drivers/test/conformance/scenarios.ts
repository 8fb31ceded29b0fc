/** The scenarios that every real agent goes through with its driver. Each returns the outcome that was measured, which the table in docs/agents.md shows. */
import type { Answer, Request, SessionId } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { ask, createSignal, say, shell, waitFor, writeFile } from '../../../../test/agents/model/script.ts'
import { offersQuestions } from '../../../../test/agents/model/tools.ts'
import { personCaller } from '../runner-fixture.ts'
import type { AgentFixture } from './agent-fixture.ts'
import type { AgentDeclaration } from './declarations.ts'
import { killedAtAnyMoment } from './kill-scenario.ts'

export interface ScenarioContext {
  readonly agent: AgentFixture
  readonly declared: AgentDeclaration
  readonly has: (capability: string) => boolean
}
type Scenario = (context: ScenarioContext) => Promise<string>

const sameTurn = 'same turn'
const nextMessage = 'next message'
const told = 'told and matched'
const resumed = 'resumed'

async function stream({ agent }: ScenarioContext): Promise<string> {
  let streamed = ''
  const begun = createSignal()
  const frame = ({ json }: { readonly json: string }) => {
    streamed += JSON.parse(json).delta?.text ?? ''
    if (streamed.includes('I begin')) begun.fire()
  }
  const subscription = await agent.gateway.subscribe(personCaller, {}, { frame })
  const goOn = createSignal()
  agent.model.script('stream a text', [say('I begin with this. '), waitFor(goOn.fired), say('And I end.')])
  await agent.start('stream a text')
  await begun.fired
  expect(agent.turnCount).toBe(0)
  goOn.fire()
  expect(await agent.turnEnd()).toMatchObject({ ending: 'done' })
  expect(agent.agentTexts().join('')).toContain('I begin with this. And I end.')
  subscription.stop()
  return 'yes'
}

async function allow({ agent, declared, has }: ScenarioContext): Promise<string> {
  agent.model.script('allowed command', shell('echo ran >> allowed.txt', 'call_allowed'), say('It ran.'))
  await agent.start('allowed command')
  const request = await agent.nextRequest()
  expect(request.ask).toMatchObject({
    kind: 'approval',
    tool: declared.shellTool,
    title: declared.shellTitle('echo ran >> allowed.txt'),
    action: { shell: 'echo ran >> allowed.txt', cwd: agent.cwd },
    input: declared.shellInput('echo ran >> allowed.txt'),
    editable: has('editInput'),
  })
  // The command only adds to a file in the folder of the session.
  expect(request.risk?.level).toBe('low')
  await agent.answer(request, { kind: 'allow' })
  expect(await agent.turnEnd()).toMatchObject({ ending: 'done' })
  expect(agent.readFile('allowed.txt')).toBe('ran\n')
  expect(await agent.deliveryOf(request)).toBe('taken')
  expect(agent.eventsOf('tool.started').at(-1)).toMatchObject(declared.toolStarted ?? {})
  expect(agent.eventsOf('tool.finished').at(-1)).toMatchObject({ ok: true })
  return 'yes'
}

async function deny({ agent, has }: ScenarioContext): Promise<string> {
  agent.model.script('denied command', shell('echo ran >> denied.txt', 'call_denied'), say('I stop here.'))
  agent.model.script('say goodbye', say('Goodbye.'))
  const session = await agent.start('denied command')
  const request = await agent.nextRequest()
  await agent.answer(request, { kind: 'deny', reason: 'use printf instead' })
  expect(await agent.turnEnd()).toMatchObject({ ending: has('denyAndContinue') ? 'done' : 'cancelled' })
  const isReadAtOnce = agent.hasRead('use printf instead')
  if (has('denyAndContinue')) expect(agent.agentTexts().at(-1)).toBe('I stop here.')
  await agent.asPerson('sendMessage', { id: session, text: 'say goodbye' })
  await agent.turnEnd(2)
  expect(agent.readFile('denied.txt')).toBeNull()
  expect(agent.hasRead('use printf instead')).toBe(true)
  expect(await agent.deliveryOf(request)).toBe('taken')
  expect(agent.eventsOf('tool.finished').at(-1)).toMatchObject({ ok: false })
  return isReadAtOnce ? sameTurn : nextMessage
}

async function denyAndStop({ agent }: ScenarioContext): Promise<string> {
  agent.model.script('stop everything', shell('echo ran >> stopped.txt'), say('It ran.'))
  agent.model.script('what now', say('I wait.'))
  const session = await agent.start('stop everything')
  await agent.answer(await agent.nextRequest(), { kind: 'deny', reason: 'wrong branch', interrupt: true })
  const { ending } = await agent.turnEnd()
  expect(agent.hasRead('wrong branch')).toBe(false)
  await agent.asPerson('sendMessage', { id: session, text: 'what now' })
  expect(await agent.turnEnd(2)).toMatchObject({ ending: 'done' })
  expect(agent.readFile('stopped.txt')).toBeNull()
  expect(agent.hasRead('wrong branch')).toBe(true)
  return ending
}

async function edit({ agent, declared, has }: ScenarioContext): Promise<string> {
  if (!has('editInput')) return 'no'
  agent.model.script('edited command', shell('echo original >> edited.txt'), say('It ran.'))
  await agent.start('edited command')
  const request = await agent.nextRequest()
  const asked = request.ask.kind === 'approval' ? request.ask.input : {}
  const input = { ...asked, ...declared.shellInput('echo edited >> edited.txt') }
  await agent.answer(request, { kind: 'allow', input })
  await agent.turnEnd()
  expect(agent.readFile('edited.txt')).toBe('edited\n')
  return 'yes'
}

async function note({ agent }: ScenarioContext): Promise<string> {
  agent.model.script('noted command', shell('echo ran >> noted.txt'), say('It ran.'))
  agent.model.script('after the note', say('I know.'))
  const session = await agent.start('noted command')
  await agent.answer(await agent.nextRequest(), { kind: 'allow', note: 'only this once' })
  await agent.turnEnd()
  const isReadAtOnce = agent.hasRead('only this once')
  await agent.asPerson('sendMessage', { id: session, text: 'after the note' })
  await agent.turnEnd(2)
  expect(agent.readFile('noted.txt')).toBe('ran\n')
  expect(agent.hasRead('only this once')).toBe(true)
  return isReadAtOnce ? sameTurn : nextMessage
}

async function createFile({ agent }: ScenarioContext): Promise<string> {
  const path = `${agent.cwd}/new.txt`
  agent.model.script('create a file', writeFile(path, 'one\ntwo\n', 'call_write'), say('Created.'))
  await agent.start('create a file')
  const request = await agent.nextRequest()
  expect(JSON.stringify(request.ask)).toContain('one\\ntwo')
  expect(request.ask).toMatchObject({ action: { write: [path] } })
  await agent.answer(request, { kind: 'allow' })
  await agent.turnEnd()
  expect(agent.readFile('new.txt')).toBe('one\ntwo\n')
  return 'yes'
}

async function question({ agent, has }: ScenarioContext): Promise<string> {
  const database = { header: 'Database', question: 'Which database?', options: ['Postgres', 'Redis'] }
  const isAsked = has('questions') || has('forms')
  agent.model.script('ask me something', ...(isAsked ? [ask([database], 'call_ask')] : []), say('Thank you.'))
  await agent.start('ask me something')
  if (isAsked) await agent.answer(await agent.nextRequest(), answerTo(await agent.nextRequest()))
  expect(await agent.turnEnd()).toMatchObject({ ending: 'done' })
  const call = await agent.model.waitForCall(({ marker }) => marker === 'ask me something')
  expect(offersQuestions(call.tools)).toBe(isAsked)
  if (!isAsked) return 'no'
  expect(agent.model.toolResult('call_ask')).toContain('Redis')
  return (await agent.nextRequest()).ask.kind
}

function answerTo({ ask }: Request): Answer {
  if (ask.kind === 'form') return { kind: 'submit', values: { [Object.keys(ask.schema.properties)[0] ?? '']: 'Redis' } }
  const [first] = ask.kind === 'questions' ? ask.questions : []
  return { kind: 'answers', answers: [{ id: first?.id ?? '', chosen: ['Redis'] }] }
}

async function several({ agent, declared, has }: ScenarioContext): Promise<string> {
  const calls = [1, 2, 3].map(number => shell(`echo ${number} >> several-${number}.txt`, `call_several_${number}`))
  agent.model.script('several at once', calls, say('All decided.'))
  await agent.start('several at once')
  const opened: Request[] = []
  const outcome = declared.outcomes.several
  const allowAll = async () => {
    const numberOf = ({ ask }: Request) => Number(/several-(\d)/.exec(JSON.stringify(ask))?.[1])
    const answers = opened.sort((a, b) => numberOf(b) - numberOf(a))
    // A denial ends the turn of some agents and everything that still runs, so it must be the last answer.
    if (!has('denyAndContinue')) answers.push(answers.shift() as Request)
    for (const request of answers) {
      const isDenied = numberOf(request) === 3
      if (isDenied && !has('denyAndContinue'))
        await expect.poll(() => [1, 2].map(number => agent.readFile(`several-${number}.txt`))).toEqual(['1\n', '2\n'])
      await agent.answer(request, { kind: isDenied ? 'deny' : 'allow' })
    }
  }
  if (outcome === 'at once') {
    for (const nth of [1, 2, 3]) opened.push(await agent.nextRequest(nth))
    await allowAll()
  } else {
    for (const nth of [1, 2, 3]) {
      const request = await agent.nextRequest(nth)
      expect(agent.requestCount).toBe(nth)
      await agent.answer(request, { kind: nth === 3 ? 'deny' : 'allow' })
    }
  }
  expect(await agent.turnEnd()).toMatchObject({ ending: has('denyAndContinue') ? 'done' : 'cancelled' })
  expect([1, 2, 3].map(number => agent.readFile(`several-${number}.txt`))).toEqual(['1\n', '2\n', null])
  for (const nth of [1, 2, 3]) expect(await agent.deliveryOf(await agent.nextRequest(nth))).toBe('taken')
  return outcome
}

async function elsewhere({ agent, declared, has }: ScenarioContext): Promise<string> {
  if (!has('sharedTerminal')) return '–'
  agent.model.script('answered there', shell('echo ran >> there.txt'), say('Thanks.'))
  const session = await agent.start('answered there')
  const request = await agent.nextRequest()
  expect((await agent.asPerson('getSession', { id: session })).process?.attach).toBeTruthy()
  await declared.allowElsewhere?.(agent, session)
  expect(await agent.turnEnd()).toMatchObject({ ending: 'done' })
  expect((await agent.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'withdrawn' })
  expect(agent.readFile('there.txt')).toBe('ran\n')
  expect(agent.agentTexts().at(-1)).toBe('Thanks.')
  return 'withdrawn'
}

async function interruptWaiting({ agent }: ScenarioContext): Promise<string> {
  agent.model.script('wait for me', shell('echo ran >> waited.txt', 'call_waited'))
  agent.model.script('and again', say('Here I am.'))
  const session = await agent.start('wait for me')
  const request = await agent.nextRequest()
  await agent.asPerson('interruptSession', { id: session })
  expect(await agent.turnEnd()).toMatchObject({ ending: 'interrupted' })
  expect((await agent.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
  await agent.asPerson('sendMessage', { id: session, text: 'and again' })
  expect(await agent.turnEnd(2)).toMatchObject({ ending: 'done' })
  expect(agent.readFile('waited.txt')).toBeNull()
  return 'withdrawn'
}

async function interruptWriting({ agent }: ScenarioContext): Promise<string> {
  const never = createSignal()
  agent.model.script('a long text', [say('I begin '), waitFor(never.fired), say('and end.')])
  const session = await agent.start('a long text')
  const call = await agent.model.waitForCall(({ marker }) => marker === 'a long text')
  await agent.asPerson('interruptSession', { id: session })
  expect(await agent.turnEnd()).toMatchObject({ ending: 'interrupted' })
  expect(await call.outcome).toBe('aborted')
  return 'stops the model'
}

/** Lets the agent ask for a command, and makes its model repeat the command if it is told about a loss. */
async function askAndLose(agent: AgentFixture, name: string): Promise<{ session: SessionId; request: Request }> {
  const command = (id: string) => shell(`echo ran >> ${name}.txt`, `call_${name}_${id}`)
  agent.model.script(`lose the ${name}`, command('first'), say('First done.'))
  agent.model.script('Your process was lost', command('second'), say('Second done.'))
  const session = await agent.start(`lose the ${name}`)
  return { session, request: await agent.nextRequest() }
}

async function killed({ agent, declared }: ScenarioContext): Promise<string> {
  const { session, request } = await askAndLose(agent, 'process')
  await declared.untilStored?.(agent, session, 'call_process_first')
  process.kill(-agent.pidOf(session), 'SIGKILL')
  await expect.poll(async () => (await agent.asPerson('getSession', { id: session })).process?.state).toBe('lost')
  expect((await agent.getRequest(request)).status).toBe('pending')
  await declared.untilLoadable?.()
  await agent.answer(request, { kind: 'allow' })
  expect(await agent.turnEnd()).toMatchObject({ ending: 'done' })
  expect(agent.readFile('process.txt')).toBe('ran\n')
  expect(agent.requestCount).toBe(1)
  expect(await agent.deliveryOf(request)).toBe('taken')
  if (!agent.hasRead('Your process was lost')) return resumed
  expect(agent.hasRead('allowed; make exactly the same call again to run it')).toBe(true)
  expect(agent.agentTexts().at(-1)).toBe('Second done.')
  return told
}

async function gatewayRestarted({ agent }: ScenarioContext): Promise<string> {
  const { session, request } = await askAndLose(agent, 'gateway')
  const pid = agent.pidOf(session)
  await agent.restartGateway()
  await agent.answer(request, { kind: 'allow' })
  expect(await agent.turnEnd()).toMatchObject({ ending: 'done' })
  expect(agent.readFile('gateway.txt')).toBe('ran\n')
  expect(agent.pidOf(session)).toBe(pid)
  return resumed
}

async function bothRestarted({ agent, declared }: ScenarioContext): Promise<string> {
  const { request } = await askAndLose(agent, 'runner')
  agent.model.script('Your process was lost', say('I leave it.'))
  await agent.stopRunner()
  await agent.expectNoProcess()
  await agent.restartGateway()
  expect((await agent.getRequest(request)).status).toBe('pending')
  agent.startRunner()
  await declared.untilLoadable?.()
  await agent.answer(request, { kind: 'deny', reason: 'the runner was new' })
  await agent.turnEnd()
  expect(agent.readFile('runner.txt')).toBeNull()
  expect(agent.hasRead('the runner was new')).toBe(true)
  return agent.hasRead('Your process was lost') ? told : resumed
}

async function changeMode({ agent, declared }: ScenarioContext): Promise<string> {
  if (!declared.modes) return 'no'
  agent.model.script('hello there', say('Hello to you.'))
  const session = await agent.start('hello there')
  await agent.turnEnd()
  for (const mode of [...declared.modes].reverse()) {
    await agent.asPerson('patchSession', { id: session, mode })
    await expect.poll(async () => (await agent.asPerson('getSession', { id: session })).mode).toBe(mode)
  }
  return 'yes'
}

export const scenarios = {
  stream: ['text streams into the log', stream],
  allow: ['an allowed command runs', allow],
  deny: ['a denied command does not run; the model reads the reason', deny],
  denyAndStop: ['“deny and stop” ends the turn as', denyAndStop],
  edit: ['an edited command runs', edit],
  note: ['the model reads the note of an allow', note],
  createFile: ['a new file is asked with its path and content', createFile],
  question: ['the agent asks the person', question],
  several: ['several requests', several],
  elsewhere: ['a request that is answered elsewhere', elsewhere],
  interruptWaiting: ['an interrupt while a request waits', interruptWaiting],
  interruptWriting: ['an interrupt while the model writes', interruptWriting],
  killed: ['the agent is killed while a request waits', killed],
  killedAtAnyMoment: ['the agent is killed while it starts, writes, runs a command or is answered', killedAtAnyMoment],
  gatewayRestarted: ['the gateway is restarted while a request waits', gatewayRestarted],
  bothRestarted: ['gateway and runner are restarted while a request waits', bothRestarted],
  changeMode: ['the mode can be changed', changeMode],
} as const satisfies Readonly<Record<string, readonly [string, Scenario]>>
export type ScenarioName = keyof typeof scenarios
