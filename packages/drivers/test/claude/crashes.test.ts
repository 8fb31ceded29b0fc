/** Kills Claude Code while it waits for an answer, while an allowed command runs, and in the middle of a turn. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ClaudeFixture, isAlive, waitUntil } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const echo = steps([bash('echo ran >> ran.txt')])
const kill = (pid: number | null) => process.kill(pid ?? Number.NaN, 'SIGKILL')

describe('when Claude Code is killed while a request is pending', () => {
  it('if Claude Code is killed while a request is pending, the answer resumes the session, and the allowed command runs once', async () => {
    claude = await ClaudeFixture.create(echo, { knownParkable: true })
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    kill(claude.pidOf(id))
    await claude.waitUntilParked(id)
    expect((await claude.getRequest()).status).toBe('pending')
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
  })

  it('if Claude Code is killed while its transcript is empty, the message is sent again, and an equal call gets the recorded answer', async () => {
    let asked = 0
    const script: ModelScript = ({ results }) =>
      results.length > 0 ? [say('done')] : [bash('echo ran >> ran.txt', `toolu_${++asked}`)]
    claude = await ClaudeFixture.create(script, { knownParkable: true })
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    kill(claude.pidOf(id))
    await claude.waitUntilParked(id)
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('if Claude Code is killed before its transcript contains the message, the message is sent again in a new conversation', async () => {
    let asked = 0
    const script: ModelScript = ({ results }) =>
      results.length > 0 ? [say('done')] : [bash('echo ran >> ran.txt', `toolu_${++asked}`)]
    claude = await ClaudeFixture.create(script, { knownParkable: true })
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    kill(claude.pidOf(id))
    await claude.waitUntilParked(id)
    rmSync(join(claude.home, 'config', 'projects'), { recursive: true })
    const folder = join(claude.home, 'driver', id)
    for (const name of readdirSync(folder).filter(file => file.endsWith('.jsonl'))) {
      const rows = readFileSync(join(folder, name), 'utf8').split('\n')
      const first = rows.filter(row => row.includes('"type":"queue-operation"'))
      expect(first.length).toBeGreaterThan(0)
      writeFileSync(join(folder, name), `${first.join('\n')}\n`)
    }
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('if Claude Code is killed while two subagents ask, it is told what was decided about their calls, and an equal call runs as allowed', async () => {
    const agent = (name: string) =>
      toolUse(
        'Agent',
        { description: name, prompt: name, subagent_type: 'general-purpose', run_in_background: false },
        `agent_${name}`,
      )
    const script: ModelScript = ({ prompt, results, conversation }) => {
      if (prompt === 'one' || prompt === 'two')
        return results.length > 0 ? [say('over')] : [bash(`touch ${prompt}.txt`, `toolu_${prompt}`)]
      if (!conversation.includes('agent_one')) return [agent('one'), agent('two')]
      return conversation.includes('toolu_again') ? [say('done')] : [bash('touch one.txt', 'toolu_again')]
    }
    claude = await ClaudeFixture.create(script, { knownParkable: true })
    const id = await claude.startClaude()
    const [one, two] = [await claude.waitForRequest('toolu_one'), await claude.waitForRequest('toolu_two')]
    await claude.waitForTranscript(id, 'agent_two')
    kill(claude.pidOf(id))
    await claude.waitUntilParked(id)
    await claude.answer(one, { kind: 'allow' })
    await claude.answer(two, { kind: 'deny', reason: 'not two' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.model.hasRead('not two')).toBe(true)
    expect(claude.readFile('one.txt')).toBe('')
    expect(claude.readFile('two.txt')).toBeNull()
    expect(claude.eventsOf('request.opened')).toHaveLength(2)
  })
})

describe('when Claude Code is killed while two equal calls are pending', () => {
  it('if Claude Code is killed while two equal calls are pending, the allowed call runs once, and the other call stays pending under its own request', async () => {
    const same = (id: string) => bash('echo same >> ran.txt', id)
    const agent = (name: string) =>
      toolUse(
        'Agent',
        { description: name, prompt: name, subagent_type: 'general-purpose', run_in_background: false },
        `agent_${name}`,
      )
    const script: ModelScript = ({ prompt, results, conversation }) => {
      if (prompt === 'one' || prompt === 'two') return results.length > 0 ? [say('over')] : [same(`toolu_${prompt}`)]
      if (!conversation.includes('agent_one')) return [agent('one'), agent('two')]
      if (!conversation.includes('toolu_again')) return [same('toolu_again')]
      return conversation.includes('toolu_and_again') ? [say('done')] : [same('toolu_and_again')]
    }
    claude = await ClaudeFixture.create(script, { knownParkable: true })
    const id = await claude.startClaude()
    const [one, two] = [await claude.waitForRequest('toolu_one'), await claude.waitForRequest('toolu_two')]
    await claude.waitForTranscript(id, 'agent_two')
    kill(claude.pidOf(id))
    await claude.waitUntilParked(id)
    // Allow the later request first, to check that the first repeated call gets the allow and not the earlier request, which is still pending.
    await claude.answer(two, { kind: 'allow' })
    await claude.waitForEvent('tool.finished', event => event.block === 'toolu_again')
    expect(claude.readFile('ran.txt')).toBe('same\n')
    await claude.waitForEvent('tool.started', event => event.block === 'toolu_and_again')
    await claude.answer(one, { kind: 'deny', reason: 'once is enough' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('ran.txt')).toBe('same\n')
    expect(claude.model.toolResult('toolu_and_again')).toContain('once is enough')
    expect(claude.eventsOf('request.opened')).toHaveLength(2)
  })
})

describe('when Claude Code is killed while an allowed command runs', () => {
  it('a command that is running when Claude Code is killed does not run again, and the model is told that the outcome is unknown', async () => {
    claude = await ClaudeFixture.create(steps([bash('echo ran >> ran.txt; sleep 30')]), { knownParkable: true })
    const id = await claude.startClaude()
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    await waitUntil(() => claude.readFile('ran.txt') !== null)
    kill(claude.pidOf(id))
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.model.toolResult()).toContain('its outcome is unknown')
    expect((await claude.getRequest()).delivery.state).toBe('unknown')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
  })

  it('a command that is running when Claude Code is killed ends too', async () => {
    claude = await ClaudeFixture.create(steps([bash('echo $$ > pid.txt; sleep 30')]), { knownParkable: true })
    const id = await claude.startClaude()
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    await waitUntil(() => (claude.readFile('pid.txt') ?? '').endsWith('\n'))
    kill(claude.pidOf(id))
    await claude.waitForTurnEnd()
    await waitUntil(() => !isAlive(Number(claude.readFile('pid.txt'))))
  })
})

describe('when Claude Code is killed in the middle of a turn', () => {
  it('a turn in which Claude Code is killed fails with an error, and the next message continues the conversation', async () => {
    claude = await ClaudeFixture.create(({ prompt }) => (prompt === 'go' ? new Promise(() => {}) : [say('here again')]))
    const id = await claude.startClaude()
    await waitUntil(() => claude.model.calls.length > 0)
    await claude.waitForTranscript(id, '"user"')
    kill(claude.pidOf(id))
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('SIGKILL')
    await claude.asPerson('sendMessage', { id, text: 'still there?' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.agentTexts()).toEqual(['here again'])
  })
})

describe('when the gateway restarts while a request is pending', () => {
  it('Claude Code keeps waiting while the gateway restarts, and gets its answer', async () => {
    claude = await ClaudeFixture.create(echo)
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    const pid = claude.pidOf(id)
    await claude.restartGateway()
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.pidOf(id)).toBe(pid)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.model.calls).toHaveLength(2)
  })
})
