/** Test fixture for rules: an agent in the folder /srv of the gateway's machine, and the calls that such tests need. */
import type { Input, Request, Rule } from '@holdpoint/protocol'
import { type AttachedAgent, approval, type GatewayFixture, openFixture, runnerId } from './gateway-fixture.ts'

export const machine = { runner: runnerId(0), home: '/home/ada', files: { realPath: (path: string) => path } }
export const scope = { cwd: '/srv' }

export interface RuleFixture {
  readonly fixture: GatewayFixture
  readonly agent: AttachedAgent
  /** Adds a rule for `npm test` in the folder of the agent, unless the draft says otherwise. */
  addRule(rule?: Partial<Input<'addRule'>>): Promise<Rule>
  /** Asks for a command under a new key. */
  ask(command?: string, more?: Parameters<typeof approval>[1]): Promise<Request>
  reload(request: Pick<Request, 'id'>): Promise<Request>
}

export async function openRuleFixture(): Promise<RuleFixture> {
  const fixture = await openFixture({ machine })
  const agent = await fixture.startAttached('resumable', scope)
  let keys = 0
  return {
    fixture,
    agent,
    addRule: (rule = {}) => fixture.person('addRule', { effect: 'allow', command: 'npm test', scope, ...rule }),
    ask: (command = 'npm test', more = {}) => agent.ask(`k${keys++}`, approval(command, more)),
    reload: ({ id }) => fixture.person('getRequest', { id }),
  }
}
