/** The choices of the Always panel: proposed rules, their scope and limits, and the suggestions of the agent's own program. */
import { needsSession, ruleDurations, ruleExpiry, ruleExplanation } from '@holdpoint/client'
import type { RuleDraft } from '@holdpoint/protocol'
import { type KeyboardEvent, type ReactNode, useId } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { href } from '../../routes.ts'
import { preventTypeAhead } from '../../shortcuts/type-ahead.ts'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { CodeWarnings } from '../../text/text-warnings.tsx'
import { useAutoFocus } from '../card-panel.tsx'
import { parseUses, scopeChoices } from '../rule/rule-limits.ts'
import { RuleSummary } from '../rule/rule-summary.tsx'
import { RuleText } from '../rule/rule-text.tsx'
import { limitTexts, ruleTexts, scopeTexts } from '../rule/texts.ts'
import type { ApprovalPanelProps } from './allow-button.tsx'
import { type ChosenLimits, effectiveScope } from './always-limits.ts'
import type { AlwaysChoice, Proposals, Suggestions } from './always-panel.tsx'
import { alwaysTexts, panelTexts, scopeLabel } from './texts.ts'
import { useAgentName } from './use-agent-name.ts'

interface ChoiceProps {
  /** The name of the radio buttons. Rules and suggestions share it, because a person chooses one of them. */
  readonly name: string
  readonly choice: AlwaysChoice | null
  readonly onChoose: (choice: AlwaysChoice) => void
  readonly onEscape: (event: KeyboardEvent) => void
}

interface ProposedRulesProps extends ChoiceProps {
  /** Null while the proposals are loading. */
  readonly proposals: Proposals | null
  readonly takesFocus: boolean
}

export function ProposedRules(props: ProposedRulesProps): ReactNode {
  const { name, proposals, choice, takesFocus, onChoose, onEscape } = props
  const first = useAutoFocus<HTMLInputElement>(takesFocus && proposals !== null)
  if (!proposals) return <p className="soft small">{alwaysTexts.loading}</p>
  if (proposals.items.length === 0)
    return (
      <p className="small">
        {alwaysTexts.noRule} <InlineAgentText text={proposals.reason} />{' '}
        <a className="underlined" href={href({ screen: 'rules' })}>
          {alwaysTexts.openRules}
        </a>
      </p>
    )
  return (
    <fieldset className="choices" onKeyDown={onEscape}>
      <legend className="soft small">{alwaysTexts.title}</legend>
      {proposals.items.map(({ rule, runsProjectCode }, index) => (
        <label key={JSON.stringify(rule)} className="choice">
          <input
            ref={index === 0 ? first : undefined}
            type="radio"
            name={name}
            checked={choice?.kind === 'rule' && choice.index === index}
            onChange={() => onChoose({ kind: 'rule', index })}
          />
          <span className="choice-text">
            <RuleText rule={rule} />
            <CodeWarnings text={rule.command ?? rule.path ?? rule.host ?? ''} kind="command" />
            <span className="soft small">
              {ruleExplanation(rule)} {runsProjectCode && <b className="strong">{ruleTexts.runsProjectCode}</b>}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

interface RuleLimitsProps {
  readonly rule: RuleDraft
  readonly limits: ChosenLimits
  readonly onChange: (limits: ChosenLimits) => void
  readonly onEscape: (event: KeyboardEvent) => void
}

export function RuleLimits({ rule, limits, onChange, onEscape }: RuleLimitsProps): ReactNode {
  const skewMs = useInboxPart(snapshot => snapshot.clockSkewMs)
  const id = useId()
  const isInvalid = parseUses(limits.uses) === null
  const isForSession = needsSession(limits.duration)
  return (
    <fieldset className="rule-limits" onKeyDown={onEscape}>
      <legend className="visually-hidden">{alwaysTexts.limits}</legend>
      <label className="field">
        {scopeTexts.label}
        <select
          className="input"
          value={effectiveScope(rule, limits)}
          disabled={isForSession}
          onKeyDown={preventTypeAhead}
          onChange={({ target }) =>
            onChange({ ...limits, scope: scopeChoices(rule).find(each => each === target.value) ?? 'folder' })
          }
        >
          {scopeChoices(rule).map(choice => (
            <option key={choice} value={choice}>
              {scopeTexts[choice]}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        {limitTexts.label}
        <select
          className="input"
          value={limits.duration}
          onKeyDown={preventTypeAhead}
          onChange={({ target }) => {
            const duration = ruleDurations.find(({ name }) => name === target.value)?.name ?? 'none'
            onChange({ ...limits, duration, expiresAt: ruleExpiry(duration, Date.now() + skewMs) })
          }}
        >
          {ruleDurations.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        {limitTexts.uses}
        <input
          className="input"
          inputMode="numeric"
          autoComplete="off"
          placeholder={limitTexts.anyUses}
          aria-invalid={isInvalid}
          aria-describedby={isInvalid ? id : undefined}
          value={limits.uses}
          onChange={event => onChange({ ...limits, uses: event.target.value })}
        />
      </label>
      {isInvalid && (
        <p id={id} className="problem">
          {limitTexts.badUses}
        </p>
      )}
    </fieldset>
  )
}

interface SuggestionsProps extends ChoiceProps, Pick<ApprovalPanelProps, 'request'> {
  readonly suggestions: Suggestions
}

export function AgentSuggestions(props: SuggestionsProps): ReactNode {
  const { request, suggestions, name, choice, onChoose, onEscape } = props
  const agent = useAgentName(request.session)
  if (suggestions.length === 0) return null
  return (
    <fieldset className="choices agent-suggestions" onKeyDown={onEscape}>
      <legend className="soft small">{alwaysTexts.suggestions(agent)}</legend>
      {suggestions.map(({ id, label, scope }) => (
        <label key={id} className="choice">
          <input
            type="radio"
            name={name}
            checked={choice?.kind === 'suggestion' && choice.id === id}
            onChange={() => onChoose({ kind: 'suggestion', id })}
          />
          <span className="choice-text">
            <ExactText text={label} className="mono agent-background value" />
            <CodeWarnings text={label} kind="command" />
            <span className="soft small">
              {scopeLabel(scope) ?? <InlineAgentText text={panelTexts.unknownScope(scope)} />}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** Says what the button adds: the rule, where it applies and how long. */
export function NewRuleText({ rule }: { readonly rule: RuleDraft }): ReactNode {
  return (
    <p className="new-rule small">
      {alwaysTexts.fromNowOn} <RuleSummary rule={rule} />
    </p>
  )
}
