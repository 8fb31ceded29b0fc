/** Kills a real agent at moments at which no request waits, and checks that no request is left that nobody can answer. */
import type { Request, SessionId } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { createSignal, type ReplyPart, say, shell, waitFor } from '../../../../test/agents/model/script.ts'
import type { AgentFixture } from './agent-fixture.ts'

/** A moment at which the agent is killed: the replies of its model, and a promise that resolves at the moment. */
interface Moment {
  readonly replies: readonly (ReplyPart | readonly ReplyPart[])[]
  readonly until: (agent: AgentFixture, session: SessionId) => Promise<unknown>
}

const never = createSignal()
const moments: Readonly<Record<string, Moment>> = {
  'die while you start': {
    replies: [say('I have started.')],
    until: (agent, session) => expect.poll(() => hasProcess(agent, session)).toBe(true),
  },
  'die while you write': {
    replies: [[say('I begin '), waitFor(never.fired)]],
    until: agent => agent.model.waitForCall(({ marker }) => marker === 'die while you write'),
  },
  'die while you run': {
    replies: [shell('echo ran >> started.txt; sleep 1000'), say('It slept.')],
    until: async (agent, session) => {
      await agent.answer(await pendingRequest(agent, session), { kind: 'allow' })
      await expect.poll(() => agent.readFile('started.txt')).toBe('ran\n')
    },
  },
  'die while you are answered': {
    replies: [shell('echo ran >> answered.txt'), say('It ran.')],
    until: async (agent, session) => {
      const request = await pendingRequest(agent, session)
      // The answer is on its way when the agent is killed.
      void agent.answer(request, { kind: 'allow' })
    },
  },
}

export async function killedAtAnyMoment({ agent }: { readonly agent: AgentFixture }): Promise<string> {
  agent.model.script('Your process was lost', say('I leave it.'))
  for (const [prompt, { replies, until }] of Object.entries(moments)) {
    agent.model.script(prompt, ...replies)
    const session = await agent.start(prompt)
    await until(agent, session)
    process.kill(-agent.pidOf(session), 'SIGKILL')
    await expect.poll(() => openWork(agent, session), { message: prompt }).toEqual([])
  }
  // A call runs at most once.
  expect(agent.readFile('started.txt')).toBe('ran\n')
  expect([null, 'ran\n']).toContain(agent.readFile('answered.txt'))
  return 'nothing stays open'
}

/** Returns what a person would still see as unfinished. Denies requests that wait, as a person would. */
async function openWork(agent: AgentFixture, session: SessionId): Promise<readonly string[]> {
  const { items } = await agent.asPerson('listRequests', { session, limit: 100 })
  for (const request of items) if (request.status === 'pending') await agent.answer(request, { kind: 'deny' })
  const open = items.filter(({ status, delivery }) => status === 'pending' || isOnItsWay(delivery.state))
  const { state, lastTurn } = await agent.asPerson('getSession', { id: session })
  const turn = lastTurn === undefined || state === 'working' ? [`the turn (${state})`] : []
  return [...open.map(({ delivery }) => `a request (${delivery.state})`), ...turn]
}
const isOnItsWay = (state: Request['delivery']['state']) => state === 'waiting' || state === 'handed'

async function pendingRequest(agent: AgentFixture, session: SessionId): Promise<Request> {
  return (await agent.waitForEvent('request.opened', event => event.session === session)).value
}
function hasProcess(agent: AgentFixture, session: SessionId): boolean {
  try {
    return agent.pidOf(session) > 0
  } catch {
    return false // the record of the process is not written yet
  }
}
