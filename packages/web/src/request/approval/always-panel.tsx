/** The panel in which a person allows a request and everything like it from now on: with a rule of Holdpoint, or with a suggestion that the agent's own program stores. */
import type { ApprovalAsk, RuleDraft, RuleProposal } from '@holdpoint/protocol'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useMay } from '../../gateway/gateway-context.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { BackButton } from '../card-panel.tsx'
import { RulePreviewView, useRulePreview } from '../rule/rule-preview.tsx'
import { AllowButton, type ApprovalPanelProps, acceptableSuggestions, allowAnswer } from './allow-button.tsx'
import { AgentSuggestions, NewRuleText, ProposedRules, RuleLimits } from './always-choices.tsx'
import { type ChosenLimits, defaultLimits, ruleToAdd } from './always-limits.ts'
import { alwaysTexts, panelTexts } from './texts.ts'
import '../card-panel.css'
import '../choices.css'
import './always-panel.css'

/** The choice that the person wants to remember: the proposal with this index, or the agent's suggestion with this id. */
export type AlwaysChoice =
  | { readonly kind: 'rule'; readonly index: number }
  | { readonly kind: 'suggestion'; readonly id: string }

export function AlwaysPanel(props: ApprovalPanelProps): ReactNode {
  const { request, ask, submission, cardDraft, panels, fullyShown } = props
  const proposals = useProposals(props)
  const suggestions = acceptableSuggestions(ask, useMay())
  const [chosen, setChosen] = useState<AlwaysChoice | null>(null)
  const [limits, setLimits] = useState<ChosenLimits>(defaultLimits)
  const name = useId()
  const choice = chosen ?? onlyChoice(suggestions, proposals)
  const proposal = choice?.kind === 'rule' ? proposals?.items[choice.index] : undefined
  const rule = proposal && ruleToAdd(proposal.rule, limits, request.session)
  const answer = allowAnswer(ask, cardDraft.draft)
  const remembered = choice?.kind === 'suggestion' ? { suggestion: choice.id } : rule ? { remember: rule } : undefined
  const hasChoice = proposals === null || proposals.items.length > 0 || suggestions.length > 0
  const back = () => panels.open('main')
  const onEscape = (event: KeyboardEvent) => event.key === 'Escape' && back()
  return (
    <div className="card-panel always-panel">
      <ProposedRules {...{ name, proposals, choice, onEscape }} onChoose={setChosen} takesFocus={panels.takesFocus} />
      {proposal && <RuleLimits {...{ limits, onEscape }} rule={proposal.rule} onChange={setLimits} />}
      {proposal && <Preview rule={ruleToAdd(proposal.rule, limits, request.session)} {...{ request }} />}
      <AgentSuggestions {...{ request, suggestions, name, choice, onEscape }} onChoose={setChosen} />
      {rule && <NewRuleText rule={rule} />}
      {answer.note !== undefined && (
        <p className="soft small">
          {panelTexts.noteIncluded} <InlineAgentText text={answer.note} />
        </p>
      )}
      <div className="actions">
        {hasChoice && (
          <AllowButton
            {...{ request, ask, submission, fullyShown }}
            label={choice?.kind === 'rule' ? alwaysTexts.allowAndAdd : panelTexts.allowAndRemember}
            answer={remembered ? { ...answer, ...remembered } : null}
          />
        )}
        <BackButton submission={submission} onBack={back} />
      </div>
    </div>
  )
}

/** Suggestions of the agent's own program. */
export type Suggestions = NonNullable<ApprovalAsk['suggestions']>

/** The rules that Holdpoint proposes. If there are none, `reason` says why. */
export interface Proposals {
  readonly items: readonly RuleProposal[]
  readonly reason: string
}

function useProposals({ request: { id } }: ApprovalPanelProps): Proposals | null {
  const { call } = useGateway()
  const [proposals, setProposals] = useState<Proposals | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    call('proposeRules', { id }, { signal: controller.signal }).then(
      ({ items, reason = '' }) => setProposals({ items, reason }),
      (error: unknown) => {
        if (!controller.signal.aborted) setProposals({ items: [], reason: errorMessage(error) })
      },
    )
    return () => controller.abort()
  }, [call, id])
  return proposals
}

/** The narrowest rule is chosen at first. If there is none, a suggestion is chosen at first only if there is no other. */
function onlyChoice(suggestions: Suggestions, proposals: Proposals | null): AlwaysChoice | null {
  if (!proposals) return null
  if (proposals.items.length > 0) return { kind: 'rule', index: 0 }
  const [first, ...others] = suggestions
  return first && others.length === 0 ? { kind: 'suggestion', id: first.id } : null
}

interface PreviewProps extends Pick<ApprovalPanelProps, 'request'> {
  readonly rule: RuleDraft | null
}

function Preview({ rule, request }: PreviewProps): ReactNode {
  return (
    <div className="always-preview">
      <RulePreviewView result={useRulePreview(rule && withoutLimits(rule))} except={request.id} />
    </div>
  )
}

/** The limits do not change what a rule would have matched, so a change of them needs no new preview. */
function withoutLimits({ until: _until, expiresAt: _expires, usesLeft: _uses, ...rule }: RuleDraft): RuleDraft {
  return rule
}
