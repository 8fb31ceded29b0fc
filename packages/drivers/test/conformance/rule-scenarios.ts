/** What rules and risk do with the shell commands of every real agent. */
import { expect } from 'vitest'
import { say, shell } from '../../../../test/agents/model/script.ts'
import type { ScenarioContext } from './scenarios.ts'

async function allowRule({ agent }: ScenarioContext): Promise<string> {
  await agent.asPerson('addRule', { effect: 'allow', command: 'touch by-rule.txt', scope: { cwd: agent.cwd } })
  agent.model.script('touch by rule', shell('touch by-rule.txt'), say('It ran.'))
  await agent.start('touch by rule')
  await agent.turnEnd()
  expect((await agent.getRequest(await agent.nextRequest())).resolution).toMatchObject({
    by: 'rule',
    answer: { kind: 'allow' },
  })
  expect(agent.readFile('by-rule.txt')).toBe('')
  return 'runs without a person'
}

async function denyRule({ agent }: ScenarioContext): Promise<string> {
  await agent.asPerson('addRule', { effect: 'deny', command: 'touch never.txt', note: 'never this one' })
  agent.model.script('against the rule', shell('touch never.txt'), say('It did not run.'))
  agent.model.script('after the rule', say('I know.'))
  const session = await agent.start('against the rule')
  await agent.turnEnd()
  await agent.asPerson('sendMessage', { id: session, text: 'after the rule' })
  await agent.turnEnd(2)
  expect(agent.readFile('never.txt')).toBeNull()
  expect(agent.hasRead('never this one')).toBe(true)
  return 'never runs'
}

/** Agents run harmless commands without a question. A rule can deny such a command only if the driver has every call checked. */
async function unaskedCommand({ agent, has }: ScenarioContext): Promise<string> {
  agent.writeFile('plain.txt', 'the plain words')
  await agent.asPerson('addRule', { effect: 'deny', command: 'cat plain.txt' })
  agent.model.script('show the plain file', shell('cat plain.txt', 'call_unasked'), say('I tried.'))
  agent.model.script('after the plain file', say('I know.'))
  const session = await agent.start('show the plain file')
  await agent.turnEnd()
  await agent.asPerson('sendMessage', { id: session, text: 'after the plain file' })
  await agent.turnEnd(2)
  const ran = agent.hasRead('the plain words')
  if (has('checksEveryTool')) expect(ran).toBe(false)
  if (ran) return 'runs unasked'
  return agent.requestCount > 0 ? 'is asked' : 'is checked'
}

async function dangerousCommand({ agent }: ScenarioContext): Promise<string> {
  agent.writeFile('keep.txt', 'kept')
  agent.model.script('delete the kept file', shell('rm -rf keep.txt'), say('No.'))
  await agent.start('delete the kept file')
  const request = await agent.nextRequest()
  expect(request).toMatchObject({ resolution: null, risk: { level: 'dangerous', touches: ['deletes'] } })
  await agent.answer(request, { kind: 'deny' })
  await agent.turnEnd()
  expect(agent.readFile('keep.txt')).toBe('kept')
  return 'dangerous: deletes'
}

export const ruleScenarios = {
  allowRule: ['`touch by-rule.txt`, which a rule allows', allowRule],
  denyRule: ['`touch never.txt`, which a rule denies', denyRule],
  unaskedCommand: ['`cat plain.txt`, which a rule denies and many agents run without asking', unaskedCommand],
  dangerousCommand: ['the risk of `rm -rf keep.txt`', dangerousCommand],
} as const satisfies Readonly<Record<string, readonly [string, (context: ScenarioContext) => Promise<string>]>>
export type RuleScenarioName = keyof typeof ruleScenarios
