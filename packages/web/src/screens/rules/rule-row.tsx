/** A row of the Rules screen. It expands to the details of the rule and the buttons to change it. */
import { ruleExplanation, ruleLimitsLabel, timeSince } from '@holdpoint/client'
import type { Rule } from '@holdpoint/protocol'
import { memo, type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive, useMay } from '../../gateway/gateway-context.ts'
import { RulePreviewView, useRulePreview } from '../../request/rule/rule-preview.tsx'
import { RuleScopeText } from '../../request/rule/rule-summary.tsx'
import { RuleText } from '../../request/rule/rule-text.tsx'
import { ruleTexts } from '../../request/rule/texts.ts'
import { CodeWarnings } from '../../text/text-warnings.tsx'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { AddedBy, RuleFacts } from './rule-facts.tsx'
import { isEditable } from './rule-filter.ts'
import { draftIn } from './rule-form.ts'
import { rowTexts } from './texts.ts'
import { useMayChange } from './use-may-change.ts'
import './rule-row.css'

export interface RuleRowProps {
  readonly rule: Rule
  readonly now: number
  readonly onEdit: (rule: Rule) => void
}

export const RuleRow = memo(function RuleRow({ rule, now, onEdit }: RuleRowProps): ReactNode {
  const [open, setOpen] = useState(false)
  const facts = [ruleLimitsLabel(rule, now), usesLabel(rule, now)].filter(Boolean)
  return (
    <li className={`rule-row ${rule.paused ? 'paused' : ''}`} data-rule={rule.id}>
      <details onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>
          <RuleText rule={rule} oneLine />
          <span className="rule-row-facts">
            <RuleScopeText rule={rule} oneLine />
            {facts.map(fact => (
              <span key={fact}>{fact}</span>
            ))}
            {isEditable(rule) && <AddedBy rule={rule} />}
          </span>
        </summary>
        {open && <RuleDetails {...{ rule, now, onEdit }} />}
      </details>
    </li>
  )
})

function usesLabel({ uses = 0, lastUsedAt }: Rule, now: number): string {
  if (uses === 0 || lastUsedAt === undefined) return rowTexts.usedNever
  return rowTexts.used(uses, rowTexts.ago(timeSince(lastUsedAt, now)))
}

/** Longer texts may not fit into the row, so the details repeat them. */
const oneLineMax = 60

function RuleDetails({ rule, now, onEdit }: RuleRowProps): ReactNode {
  const [tested, setTested] = useState(false)
  const { command, path, host, effect, group } = rule
  return (
    <div className="rule-details">
      {(command ?? path ?? '').length > oneLineMax && (
        <p>
          <RuleText rule={rule} />
        </p>
      )}
      <CodeWarnings text={command ?? path ?? host ?? ''} kind="command" />
      {effect === 'allow' && (
        <p className="soft small">
          {ruleExplanation(rule)} {group === 'project-code' && ruleTexts.runsProjectCode}
        </p>
      )}
      <RuleFacts rule={rule} now={now} />
      {isEditable(rule) ? (
        <RuleActions {...{ rule, onEdit }} onTest={() => setTested(true)} />
      ) : (
        <p className="soft small">{rule.source ? rowTexts.fromFile : rowTexts.builtIn}</p>
      )}
      {tested && <RuleTest rule={rule} />}
    </div>
  )
}

function RuleTest({ rule }: { readonly rule: Rule }): ReactNode {
  return <RulePreviewView result={useRulePreview(draftIn(rule))} />
}

interface RuleActionsProps {
  readonly rule: Rule
  readonly onEdit: (rule: Rule) => void
  readonly onTest: () => void
}

function RuleActions({ rule, onEdit, onTest }: RuleActionsProps): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const mayChange = useMayChange()(rule)
  const mayPutIntoEffect = useMay()('rule.allow') || rule.effect !== 'allow'
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const { id, version, paused = false } = rule
  const send = async (change: () => Promise<unknown>) => {
    setSending(true)
    setProblem('')
    try {
      await change()
    } catch (error) {
      setProblem(errorMessage(error))
    }
    setSending(false)
  }
  const disabled = !live || sending
  return (
    <>
      <div className="rule-actions">
        {mayChange && mayPutIntoEffect && (
          <button type="button" className="button small" disabled={disabled} onClick={() => onEdit(rule)}>
            {rowTexts.edit}
          </button>
        )}
        {mayChange && (mayPutIntoEffect || !paused) && (
          <button
            type="button"
            className="button small"
            disabled={disabled}
            onClick={() => void send(() => call('patchRule', { id, version, paused: !paused }))}
          >
            {paused ? rowTexts.resume : rowTexts.pause}
          </button>
        )}
        <button type="button" className="button small" disabled={disabled} onClick={onTest}>
          {rowTexts.test}
        </button>
        {mayChange && (
          <ConfirmButton
            label={sending ? rowTexts.sending : `${rowTexts.revoke}…`}
            question={rowTexts.revokeQuestion}
            consequence={rowTexts.revokeWarning}
            confirmLabel={rowTexts.revoke}
            disabled={disabled}
            plain={false}
            className="small"
            onConfirm={() => void send(() => call('removeRule', { id }))}
          />
        )}
      </div>
      {!mayChange && <p className="soft small">{rowTexts.othersRule}</p>}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
