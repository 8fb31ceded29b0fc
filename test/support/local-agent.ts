/** An agent of the gateway's own machine for tests. Rules look at files only for such agents, not for external ones. */
import type { AgentEvent, Ask, Capability, Request, Session } from '@holdpoint/protocol'
import type { GatewayProcess } from './gateway.ts'

export interface LocalAgent {
  readonly session: Session
  say(...items: readonly AgentEvent[]): Promise<unknown>
  ask(ask: Ask, more?: { readonly deadlineMs?: number }): Promise<Request>
}

const renewMs = 1000

/** Announces the runner of the gateway's machine, for a gateway that has started none. Call `close` at the end. */
export async function announceLocalRunner(gateway: GatewayProcess, capabilities: readonly Capability[] = []) {
  const call = gateway.callAs(gateway.home.runnerToken())
  const id = gateway.home.runnerId()
  const driver = { name: 'test', title: 'Test agent', capabilities: [...capabilities], modes: ['default'], ready: true }
  const { incarnation } = await call('announceRunner', { id, name: 'this machine', drivers: [driver] })
  const timer = setInterval(() => void call('renewRunner', { id, incarnation }).catch(() => {}), renewMs)
  return {
    async openAgent(cwd: string, title = 'local'): Promise<LocalAgent> {
      const session = await gateway.call('startSession', { driver: 'test', title, cwd })
      const { fence } = await call('attachSession', { id: session.id, runner: id, incarnation })
      let asked = 0
      return {
        session,
        say: (...items) => call('appendEvents', { id: session.id, fence, items: [...items] }),
        ask: (ask, more = {}) => call('openRequest', { id: session.id, fence, key: `ask-${++asked}`, ask, ...more }),
      }
    },
    close: () => clearInterval(timer),
  }
}
