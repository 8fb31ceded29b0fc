/** Coming back to a session with `holdpoint run --session`: one that goes on, and one that has ended. */
import type { Session } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, makeFolder, startGateway } from '../../../test/support/gateway.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { rehearse, waitForLastMessage, waitForPending } from './support/gateway-fixture.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

let gateway: GatewayProcess
let scene: Scene
beforeAll(async () => {
  gateway = await startGateway({ runner: 'inline' })
  scene = new Scene(gateway)
})
afterEach(closeTerminals)
afterAll(closeGateways)

async function ended(): Promise<Session> {
  const { session, request } = await rehearse(gateway, 'approval')
  await scene.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
  await waitForLastMessage(gateway, session)
  return scene.call('endSession', { id: session.id })
}
const now = ({ id }: Session) => scene.call('getSession', { id })

describe('a session that has ended', () => {
  it('is read again, and opened by what is said to it', async () => {
    const session = await ended()
    const terminal = scene.run(session)
    await terminal.sees('This session has ended: what you say opens it again.')
    await terminal.sees('Enter says it')
    expect((await now(session)).state, 'looking opens nothing').toBe('ended')
    await terminal.type('and now?')
    terminal.press(keys.enter)
    await terminal.sees('Enter confirms')
    expect((await now(session)).state).not.toBe('ended')
    await scene.call('endSession', { id: session.id })
    expect(await terminal.exit, 'ended once more, it is left').toBe(0)
  })

  it('stays so when it is left', async () => {
    const session = await ended()
    const terminal = scene.run(session)
    await terminal.sees('Enter says it')
    terminal.press(keys.ctrlD)
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('You left. The session has ended; what you say to it opens it again.')
    expect(terminal.all()).toContain(`holdpoint run --session ${session.id.slice(0, 10)}`)
    expect((await now(session)).state).toBe('ended')
  })

  it('that cannot go on is told so, with what would begin another', async () => {
    const session = await scene.session('over')
    await scene.says(session, 'Good night.')
    await scene.call('endSession', { id: session.id })
    const terminal = scene.run(session)
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('Good night.')
    expect(terminal.all()).toMatch(/has ended and cannot be opened again\.\nWhatever opened it/)
  })
})

describe('words behind --session', () => {
  it('are said to it, in a pipe until its turn is over', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    await scene.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
    await waitForLastMessage(gateway, session)
    const said = runCliAgainst(gateway, ['run', '--session', session.id, 'good', 'evening'])
    const echoed = await waitForPending(gateway, session)
    await scene.call('answerRequest', { id: echoed.id, digest: echoed.digest, answer: { kind: 'decline' } })
    const { code, out } = await said
    expect([code, out]).toEqual([0, expect.stringMatching(/› good evening\n[\s\S]*“good evening”/)])
    await scene.call('endSession', { id: session.id })
    const over = await runCliAgainst(gateway, ['run', '--session', session.id])
    expect(over, 'nothing is said, nothing is waited for').toMatchObject({ code: 0 })
  })

  it('are refused by one that cannot go on: exit code 1', async () => {
    const session = await scene.session('over')
    await scene.call('endSession', { id: session.id })
    const { code, err } = await runCliAgainst(gateway, ['run', '--session', session.id, 'hello'])
    expect([code, err]).toEqual([1, expect.stringMatching(/has ended/)])
  })
})

describe('a gateway that runs in somebody’s terminal', () => {
  it('closes when that is left, which is said there; whoever else is left learns no more than is known', async () => {
    const home = makeFolder(gateway, 'own')
    const first = new Terminal(['run', 'rehearsal', 'short', '--home', home])
    await first.sees('[a] Allow')
    const id = /ses_\w+/.exec(first.all())?.[0] ?? ''
    const second = new Terminal(['run', '--session', id, '--home', home])
    await second.sees('[a] Allow')
    first.press(keys.ctrlC, keys.ctrlC, keys.ctrlC)
    expect(await first.exit).toBe(0)
    expect(first.all()).toMatch(
      /You left\. The session is kept, and its agent rests until you are back\.\nThe temporary gateway/,
    )
    expect(first.all()).toContain('stops now, for everyone using it')
    await second.sees(/[Tt]he gateway is away/)
    second.press(keys.ctrlC, keys.ctrlC, keys.ctrlC)
    expect(await second.exit).toBe(0)
    expect(second.all()).toContain('You left. The gateway is away, so it is not known here whether the session')
    expect(second.all()).not.toContain('goes on without you')
    const third = scene.run((await rehearse(gateway, 'approval')).session)
    await third.sees('[a] Allow')
    third.press(keys.ctrlC, keys.ctrlC, keys.ctrlC)
    expect(await third.exit).toBe(0)
    expect(third.all()).toContain('You left. The session goes on without you.')
    expect(third.all()).not.toContain('The temporary gateway')
  })
})
