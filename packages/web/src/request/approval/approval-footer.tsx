/** The footer of an approval: the main row of buttons, or the open panel. */
import type { ReactNode } from 'react'
import { useMay } from '../../gateway/gateway-context.ts'
import { cardKeys } from '../../shortcuts/card-keys.ts'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { LazyAskBackPanel } from '../ask-back/lazy-ask-back-panel.ts'
import { type CardPanel, PanelButton } from '../card-panel.tsx'
import { DenyPanel } from '../deny-panel.tsx'
import { askBackTexts } from '../texts.ts'
import { useAnswerChoices } from '../use-answer-choices.ts'
import {
  AllowButton,
  type ApprovalPanelProps,
  acceptableSuggestions,
  defaultAllow,
  textsFor,
  withoutComments,
} from './allow-button.tsx'
import { NotePanel } from './note-panel.tsx'
import { PlanModeSelect } from './plan-mode-select.tsx'
import { alwaysTexts, panelTexts } from './texts.ts'

const AlwaysPanel = lazyComponent(
  async () => (await import('./always-panel.tsx')).AlwaysPanel,
  () => <p className="soft small">{alwaysTexts.loading}</p>,
)

const EditPanel = lazyComponent(
  async () => (await import('./edit-panel.tsx')).EditPanel,
  () => null,
)

export function ApprovalFooter(given: ApprovalPanelProps): ReactNode {
  const { request, ask, submission, cardDraft, panels } = given
  const { deny, reason, reasonForNextMessage } = textsFor(ask)
  const { stop, note, denialEndsTurn } = useAnswerChoices(request.session)
  // The panels that allow leave out comments that the agent would not read.
  const props = note ? given : { ...given, cardDraft: { ...cardDraft, draft: withoutComments(cardDraft.draft) } }
  switch (panels.current) {
    case 'edit':
      return <EditPanel {...props} />
    case 'note':
      return <NotePanel {...props} />
    case 'remember':
      return <AlwaysPanel {...props} />
    case 'deny':
      return (
        <DenyPanel
          {...{ submission, cardDraft, panels }}
          kind="deny"
          title={denialEndsTurn ? reasonForNextMessage : reason}
          label={deny}
          canStop={stop.deny}
        />
      )
    case 'ask':
      return <LazyAskBackPanel {...{ submission, cardDraft, panels }} kind="deny" />
    case 'main':
      return <MainPanel {...given} />
  }
}

function MainPanel({ request, ask, submission, cardDraft, panels, fullyShown }: ApprovalPanelProps): ReactNode {
  const { edit, deny } = textsFor(ask)
  const choices = useAnswerChoices(request.session)
  const { label, answer } = defaultAllow(ask, cardDraft.draft, choices.note)
  const edited = cardDraft.draft.edit !== undefined
  const may = useMay()
  const canRemember = ask.plan === undefined && !edited && !ask.caution?.noRemember
  const mayRemember = may('rule.allow') || acceptableSuggestions(ask, may).length > 0
  const panelButton = (name: string, panel: CardPanel, shortcut?: string, className?: string) => (
    <PanelButton
      label={name}
      disabled={submission.disabled}
      onOpen={() => panels.open(panel)}
      {...{ shortcut, className }}
    />
  )
  return (
    <>
      <PlanModeSelect {...{ request, ask, submission, cardDraft }} />
      <div className="actions first">
        <AllowButton
          {...{ request, ask, submission, fullyShown, label, answer }}
          shortcut={edited ? undefined : cardKeys.allow}
        />
        <div className="more-actions">
          {ask.editable && choices.edit && panelButton(edited ? panelTexts.yourEdit : edit, 'edit', cardKeys.edit)}
          {choices.note && panelButton(answer.note ? panelTexts.yourNote : panelTexts.addNote, 'note')}
          {choices.askBack && panelButton(askBackTexts.open, 'ask')}
          {canRemember && mayRemember && panelButton(panelTexts.always, 'remember')}
        </div>
        {panelButton(`${deny}…`, 'deny', cardKeys.deny, 'align-end deny')}
      </div>
    </>
  )
}
