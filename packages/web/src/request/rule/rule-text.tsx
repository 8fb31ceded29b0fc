/** Shows what a rule does: its effect in our words, and what it matches on the background of agents' text. */
import { isBuiltIn } from '@holdpoint/client'
import type { Rule, RuleDraft } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { effectNames, ruleTexts } from './texts.ts'
import './rule-text.css'

/** A part of a rule's text: our own words, or a text that must be shown exactly. */
type RulePart = string | { readonly exact: string }

export interface RuleTextProps {
  readonly rule: RuleDraft | Rule
  /** Keeps each exact part on one line. */
  readonly oneLine?: boolean
}

export function RuleText({ rule, oneLine = false }: RuleTextProps): ReactNode {
  const effect = <span className="rule-effect">{effectNames[rule.effect]}</span>
  // The built-in rules have no content that says what they match; their notes do.
  if ('madeAt' in rule && isBuiltIn(rule))
    return (
      <span className="rule-text">
        {effect} <InlineAgentText text={rule.note?.replace(/^Built-in: /, '') ?? ''} />
      </span>
    )
  return (
    <span className="rule-text">
      {effect}
      {partsOf(rule).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a rule have no other key
        <span key={index} className={typeof part === 'string' ? 'rule-words' : 'rule-part'}>
          {' '}
          {typeof part === 'string' ? (
            part
          ) : (
            <ExactText text={part.exact} className="mono agent-background rule-exact" oneLine={oneLine} />
          )}
        </span>
      ))}
    </span>
  )
}

function partsOf({ command, args, group, path, host, mcp, action, tool }: RuleDraft): readonly RulePart[] {
  if (command !== undefined) return [{ exact: command }, ...(args === 'grammar' ? [ruleTexts.harmlessArguments] : [])]
  if (group !== undefined) return [ruleTexts.groups[group].target]
  if (path !== undefined) return [ruleTexts.access(action), { exact: path }]
  if (host !== undefined) return [ruleTexts.fetch, { exact: host }]
  if (mcp !== undefined)
    return [
      mcp.tool === undefined ? ruleTexts.everyTool : { exact: mcp.tool },
      ruleTexts.ofServer,
      { exact: mcp.server },
    ]
  if (action !== undefined) return [ruleTexts.everyAction[action]]
  return tool === undefined ? [ruleTexts.everyCall] : [ruleTexts.everyUse, { exact: tool }]
}
