/** The facts about a rule: where it applies, its limits, how often it answered, and who added it. */
import { ruleLimitsLabel } from '@holdpoint/client'
import type { Rule } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { type Fact, FactList } from '../../request/fields.tsx'
import { RuleScopeText } from '../../request/rule/rule-summary.tsx'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { dateTime, shortDate } from '../../text/format-time.ts'
import { Quote } from '../../text/prose.tsx'
import { isEditable } from './rule-filter.ts'
import { rowTexts } from './texts.ts'

export function RuleFacts({ rule, now }: { readonly rule: Rule; readonly now: number }): ReactNode {
  const { uses = 0, lastUsedAt, message, note, source, id, version } = rule
  const { facts: labels } = rowTexts
  const facts: readonly Fact[] = [
    [labels.where, <RuleScopeText key="scope" rule={rule} />],
    [labels.limits, ruleLimitsLabel(rule, now) || (isEditable(rule) && labels.noLimits)],
    [
      labels.uses,
      lastUsedAt === undefined ? rowTexts.usedNever : rowTexts.used(uses, dateTime(lastUsedAt)).replace(/^used /, ''),
    ],
    [labels.added, isEditable(rule) && dateTime(rule.madeAt)],
    [labels.message, message !== undefined && <Quote text={message} />],
    [labels.note, note !== undefined && isEditable(rule) && <Quote text={note} />],
    [
      labels.source,
      source && (
        <>
          <ExactText text={source.file} className="mono" /> {rowTexts.files[trustOf(source)]}
          {source.problem !== undefined && <Quote text={source.problem} />}
        </>
      ),
    ],
    [
      labels.rule,
      <>
        <ExactText text={id} className="mono" />, {labels.version(version)}
      </>,
    ],
  ]
  return <FactList facts={facts} className="rule-facts" />
}

function trustOf({ project, trusted }: NonNullable<Rule['source']>): keyof typeof rowTexts.files {
  if (!project) return 'own'
  return trusted ? 'trusted' : 'notTrusted'
}

/** Says who added a rule, and on which day. */
export function AddedBy({ rule: { madeAt, madeBy, madeById } }: { readonly rule: Rule }): ReactNode {
  const { me } = useGateway()
  return (
    <span>
      {rowTexts.addedBy} {madeById === me ? rowTexts.you : <InlineAgentText text={madeBy} />},{' '}
      <time dateTime={new Date(madeAt).toISOString()}>{shortDate(madeAt)}</time>
    </span>
  )
}
