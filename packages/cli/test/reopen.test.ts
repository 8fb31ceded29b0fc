/** `holdpoint run --session` with a running session and with one that has ended. */
import type { Session } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, makeFolder, startGateway } from '../../../test/support/gateway.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { rehearse, waitForLastMessage, waitForPending } from './support/gateway-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

let gateway: GatewayProcess
let fixture: SessionFixture
beforeAll(async () => {
  gateway = await startGateway({ runner: 'inline' })
  fixture = new SessionFixture(gateway)
})
afterEach(closeTerminals)
afterAll(closeGateways)

async function endedSession(): Promise<Session> {
  const { session, request } = await rehearse(gateway, 'approval')
  await fixture.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
  await waitForLastMessage(gateway, session)
  return fixture.call('endSession', { id: session.id })
}
const getSession = ({ id }: Session) => fixture.call('getSession', { id })

describe('an ended session in holdpoint run --session', () => {
  it('an ended session in holdpoint run --session is shown with its transcript and reopened by a message', async () => {
    const session = await endedSession()
    const terminal = fixture.openRun(session)
    await terminal.waitFor('This session has ended. Send a message to reopen it.')
    await terminal.waitFor('Enter send')
    expect((await getSession(session)).state, 'opening run does not reopen it').toBe('ended')
    await terminal.type('and now?')
    terminal.press(keys.enter)
    await terminal.waitFor('Enter confirm')
    expect((await getSession(session)).state).not.toBe('ended')
    await fixture.call('endSession', { id: session.id })
    expect(await terminal.exit, 'run exits when the session ends again').toBe(0)
  })

  it('an ended session in holdpoint run --session stays ended when the person leaves', async () => {
    const session = await endedSession()
    const terminal = fixture.openRun(session)
    await terminal.waitFor('Enter send')
    terminal.press(keys.ctrlD)
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('You left. The session has ended; send a message to reopen it.')
    expect(terminal.all()).toContain(`holdpoint run --session ${session.id.slice(0, 10)}`)
    expect((await getSession(session)).state).toBe('ended')
  })

  it('an ended session in holdpoint run --session that cannot be reopened is shown with the reason, and run exits', async () => {
    const session = await fixture.startSession('over')
    await fixture.sayAsAgent(session, 'Good night.')
    await fixture.call('endSession', { id: session.id })
    const terminal = fixture.openRun(session)
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('Good night.')
    expect(terminal.all()).toMatch(/has ended and cannot be reopened\.\nIt belonged to an external agent/)
  })
})

describe('a message after --session', () => {
  it('a message after --session is sent to the session; in a pipe, run exits when the turn ends', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    await fixture.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
    await waitForLastMessage(gateway, session)
    const result = runCliAgainst(gateway, ['run', '--session', session.id, 'good', 'evening'])
    const echoed = await waitForPending(gateway, session)
    await fixture.call('answerRequest', { id: echoed.id, digest: echoed.digest, answer: { kind: 'decline' } })
    const { code, out } = await result
    expect([code, out]).toEqual([0, expect.stringMatching(/› good evening\n[\s\S]*“good evening”/)])
    await fixture.call('endSession', { id: session.id })
    const over = await runCliAgainst(gateway, ['run', '--session', session.id])
    expect(over, 'without a message, run does not wait').toMatchObject({ code: 0 })
  })

  it('a message after --session is refused with exit code 1 if the session cannot be reopened', async () => {
    const session = await fixture.startSession('over')
    await fixture.call('endSession', { id: session.id })
    const { code, err } = await runCliAgainst(gateway, ['run', '--session', session.id, 'hello'])
    expect([code, err]).toEqual([1, expect.stringMatching(/has ended/)])
  })
})

describe('a temporary gateway in a terminal', () => {
  it('a temporary gateway in a terminal stops with a message when the person leaves; other terminals report that the gateway cannot be reached', async () => {
    const home = makeFolder(gateway, 'own')
    const first = new Terminal(['run', 'rehearsal', 'short', '--home', home])
    await first.waitFor('[a] Allow')
    const id = /ses_\w+/.exec(first.all())?.[0] ?? ''
    const second = new Terminal(['run', '--session', id, '--home', home])
    await second.waitFor('[a] Allow')
    first.press(keys.ctrlD)
    await first.waitFor('You left. The session is saved, and its agent is paused until you come back.')
    await first.waitFor('The temporary gateway stops now, for everyone who uses it.')
    // The person keeps pressing Ctrl+C while the gateway stops.
    const pressing = setInterval(() => first.press(keys.ctrlC), 10)
    expect(await first.exit.finally(() => clearInterval(pressing))).toBe(0)
    await second.waitFor(/[Ll]ost connection/)
    second.press(keys.ctrlC, keys.ctrlC, keys.ctrlC)
    expect(await second.exit).toBe(0)
    expect(second.all()).toContain('You left. The gateway cannot be reached, so Holdpoint can’t tell whether the')
    expect(second.all()).not.toContain('The session stays open')
    const third = fixture.openRun((await rehearse(gateway, 'approval')).session)
    await third.waitFor('[a] Allow')
    third.press(keys.ctrlD)
    expect(await third.exit).toBe(0)
    expect(third.all()).toContain('You left. The session stays open.')
    expect(third.all()).not.toContain('The temporary gateway')
  })
})
