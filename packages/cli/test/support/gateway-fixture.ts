/** Opens requests on a gateway, either through the rehearsal or as an external agent. */
import type { Ask, Request, RequestId, Session } from '@holdpoint/protocol'
import { type GatewayProcess, shortPause } from '../../../../test/support/gateway.ts'

export type RehearsalScene = 'approval' | 'edit' | 'plan' | 'questions' | 'text' | 'form' | 'parallel'

/** Starts the rehearsal with one scene and waits for its request. */
export async function rehearse(
  gateway: GatewayProcess,
  only: RehearsalScene,
): Promise<{ session: Session; request: Request }> {
  const options = { only, paceMs: 0 }
  const session = await gateway.call('startSession', { driver: 'rehearsal', title: only, prompt: 'Begin', options })
  return { session, request: await waitForPending(gateway, session) }
}

export async function waitForPending(gateway: GatewayProcess, { id }: Session): Promise<Request> {
  for (;;) {
    const [request] = (await gateway.call('listRequests', { status: 'pending', session: id })).items
    if (request) return request
    await shortPause()
  }
}

export async function waitForResolution(gateway: GatewayProcess, id: RequestId): Promise<Request> {
  return gateway.call('getRequest', { id, wait: 60_000 })
}

let keys = 0
export async function askAsExternalAgent(gateway: GatewayProcess, ask: Ask): Promise<Request> {
  const { id } = await gateway.call('startSession', { driver: 'external', title: 'elsewhere' })
  return gateway.call('openRequest', { id, key: `k${keys++}`, ask })
}

export function approvalAsk(input: Record<string, unknown>, more: object = {}): Ask {
  const ask = { kind: 'approval', tool: 'Bash', input, title: 'Run it', cwd: '/work', editable: true, ...more }
  return ask as Ask // the gateway validates the ask
}

/** Waits until the session is idle or ended, and resolves with the agent's last message. */
export async function waitForLastMessage(gateway: GatewayProcess, { id }: Session): Promise<string> {
  for (;;) {
    const { lastMessage, state } = await gateway.call('getSession', { id })
    if (state === 'idle' || state === 'ended') return lastMessage
    await shortPause()
  }
}
