/** The suite that every real agent must pass. Its outcomes are compared with what the agent declares, and written for the tables in docs/agents.md and docs/watchers.md. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AgentFixture } from './agent-fixture.ts'
import { declarations } from './declarations.ts'
import { type RuleScenarioName, ruleScenarios } from './rule-scenarios.ts'
import { type ScenarioContext, type ScenarioName, scenarios } from './scenarios.ts'
import { type WatchScenarioName, watchScenarios } from './watch-scenarios.ts'

/** The folder in which `npm run test:agents` collects what was measured. */
const resultsFolder = process.env.HOLDPOINT_AGENT_RESULTS

export function describeAgent(name: string): void {
  const declared = declarations[name]
  if (!declared) throw new Error(`${name} does not declare what it supports`)
  const measured: Record<string, string> = {}

  describe(`${name} with its driver and a scripted model`, () => {
    let agent: AgentFixture
    let capabilities: readonly string[] = []

    beforeAll(async () => {
      agent = await AgentFixture.of(name)
      agent.startRunner()
      capabilities = (await agent.driver().info()).capabilities
    })
    beforeEach(() => agent.beginTest())
    afterEach(() => agent.endTest())
    afterAll(async () => {
      await agent.close()
      if (resultsFolder === undefined) return
      mkdirSync(resultsFolder, { recursive: true })
      writeFileSync(join(resultsFolder, `${name}.json`), JSON.stringify(measured))
    })
    const context = () => ({ agent, declared, has: (capability: string) => capabilities.includes(capability) })

    function measure(title: string, run: (context: ScenarioContext) => Promise<string>, expected: string): void {
      it(`${title}: ${expected}`, async () => {
        measured[title] = await run(context())
        expect(measured[title]).toBe(expected)
      })
    }
    // The keys of the outcomes are those of the scenarios.
    for (const [key, [title, run]] of Object.entries(scenarios))
      measure(title, run, declared.outcomes[key as ScenarioName])
    for (const [key, [title, run]] of Object.entries(ruleScenarios))
      measure(title, run, declared.ruleOutcomes[key as RuleScenarioName])
    const { watchOutcomes } = declared
    for (const [key, [title, run]] of watchOutcomes ? Object.entries(watchScenarios) : [])
      measure(title, run, watchOutcomes?.[key as WatchScenarioName] ?? '')
  })
}
