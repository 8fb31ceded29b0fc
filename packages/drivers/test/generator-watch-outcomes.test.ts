/** Measures with a generator agent what watchers see of generator agents and make them do, and compares it with the table in docs/watchers.md. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { otherWatchOutcomes } from './conformance/declarations.ts'
import { type WatchScenarioName, watchScenarios } from './conformance/watch-scenarios.ts'
import { ScriptedGenerator } from './scripted-generator.ts'

describe('generator agents and watchers', () => {
  const outcomes = otherWatchOutcomes['generator agents']
  let agent: ScriptedGenerator
  beforeEach(async () => {
    agent = await ScriptedGenerator.create()
  })
  afterEach(() => agent.close())

  it.each(Object.keys(watchScenarios) as WatchScenarioName[])(
    // these are the names of the scenarios
    'the table of docs/watchers.md has the outcome that was measured with a generator agent: %s',
    async name => {
      const [, measure] = watchScenarios[name]
      expect(await measure({ agent, has: capability => capability === 'questions' })).toBe(outcomes?.[name])
    },
  )
})
