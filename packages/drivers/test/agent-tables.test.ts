/** Checks that the tables in docs/agents.md and docs/watchers.md show what each agent declares. The suite in test/conformance measures with the real agents whether the declarations are right. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { renderTable, withResults } from '../../../test/agents/results-table.mjs'
import { agentNames } from '../../../test/agents/selection.mjs'
import { declarations, otherWatchOutcomes } from './conformance/declarations.ts'
import { type RuleScenarioName, ruleScenarios } from './conformance/rule-scenarios.ts'
import { type ScenarioName, scenarios } from './conformance/scenarios.ts'
import { type WatchScenarioName, watchScenarios } from './conformance/watch-scenarios.ts'

const readDocs = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
const docs = readDocs('agents.md')

describe('docs/agents.md', () => {
  it('docs/agents.md has an up-to-date table of what each agent can do', () => {
    const rows = (Object.keys(scenarios) as ScenarioName[]).map(
      key => [scenarios[key][0], (agent: string) => declarations[agent]?.outcomes[key] ?? ''] as const,
    )
    expect(docs).toContain(renderTable(agentNames, rows))
  })
  it('docs/agents.md has an up-to-date table of rules and risk', () => {
    const rows = (Object.keys(ruleScenarios) as RuleScenarioName[]).map(
      key => [ruleScenarios[key][0], (agent: string) => declarations[agent]?.ruleOutcomes[key] ?? ''] as const,
    )
    expect(docs).toContain(renderTable(agentNames, rows))
  })
  it('a measured outcome replaces only the cell of its agent and row in a table of docs/agents.md', () => {
    const table = '| | a | b |\n|---|---|---|\n| runs | yes | yes |\n| asks | no | no |\n'
    const text = `Text.\n\n${table}\n| other | a |\n|---|---|\n| runs | yes |`
    expect(withResults(text, { b: { runs: 'no' }, c: { asks: 'yes' } })).toBe(text.replace('yes | yes |', 'yes | no |'))
  })
})

describe('docs/watchers.md', () => {
  it('docs/watchers.md has an up-to-date table of moments and effects for each agent', () => {
    const outcomesOf = (agent: string) => declarations[agent]?.watchOutcomes ?? otherWatchOutcomes[agent]
    const rows = (Object.keys(watchScenarios) as WatchScenarioName[]).map(
      key => [watchScenarios[key][0], (agent: string) => outcomesOf(agent)?.[key] ?? ''] as const,
    )
    const columns = [...agentNames, ...Object.keys(otherWatchOutcomes)].filter(outcomesOf)
    expect(readDocs('watchers.md')).toContain(renderTable(columns, rows))
  })
})
