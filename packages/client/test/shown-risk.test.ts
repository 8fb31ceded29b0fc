import type { Ask, Risk } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { shownRisk } from '../src/risk-labels.ts'

const approval = { kind: 'approval', title: 'Approve the plan', cwd: '/src', editable: true } as const
const plan: Ask = { ...approval, tool: 'ExitPlanMode', plan: '1. Read', input: { plan: '1. Read' } }
const unreadable: Risk = { level: 'notable', touches: ['unreadable'] }

describe('the risk that the page shows', () => {
  it('a plan shows no risk if the risk would only say that Holdpoint cannot tell', () => {
    expect(shownRisk({ ask: plan, risk: unreadable })).toBeUndefined()
  })

  it('a plan with any other risk shows it', () => {
    for (const risk of [
      { level: 'dangerous', touches: ['unreadable'] },
      { level: 'notable', touches: ['network', 'unreadable'] },
    ] satisfies Risk[])
      expect(shownRisk({ ask: plan, risk })).toEqual(risk)
  })

  it('a command that comes with a plan shows its risk, and so does a tool without a plan', () => {
    const command: Ask = { ...plan, tool: 'Bash', input: { command: 'make' } }
    const tool: Ask = { ...approval, tool: 'deploy', input: {} }
    for (const ask of [command, tool]) expect(shownRisk({ ask, risk: unreadable })).toEqual(unreadable)
  })
})
