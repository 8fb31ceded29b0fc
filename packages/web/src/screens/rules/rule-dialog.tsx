/** The dialog in which a person writes a rule or changes one. */
import type { Rule, RuleDraft } from '@holdpoint/protocol'
import { type ReactNode, type SyntheticEvent, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useInboxPart, useLive, useMay } from '../../gateway/gateway-context.ts'
import { RulePreviewView, useRulePreview } from '../../request/rule/rule-preview.tsx'
import { SendHint } from '../../request/send-key.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { submitByKey } from '../../ui/submit-by-key.ts'
import { LimitFields } from './limit-fields.tsx'
import { draftOf, effectsFor, emptyFormFor, formOf, type RuleForm } from './rule-form.ts'
import { TargetFields } from './target-fields.tsx'
import { ruleFormTexts } from './texts.ts'
import './rule-dialog.css'

export interface RuleDialogProps {
  /** The rule to change, or null for a new rule. */
  readonly edited: Rule | null
  readonly onClose: () => void
}

export function RuleDialog({ edited, onClose }: RuleDialogProps): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const skewMs = useInboxPart(snapshot => snapshot.clockSkewMs)
  const effects = effectsFor(useMay())
  const [form, setForm] = useState<RuleForm>(() => (edited ? formOf(edited) : emptyFormFor(effects)))
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const [tested, setTested] = useState<RuleDraft | null>(null)
  const change = (fields: Partial<RuleForm>) => {
    setForm(before => ({ ...before, ...fields }))
    setTested(null)
    setProblem('')
  }
  const draft = () => draftOf(form, edited, Date.now() + skewMs)
  const save = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!live || sending) return
    const rule = draft()
    if (!rule) return setProblem(ruleFormTexts.incomplete)
    setSending(true)
    try {
      if (edited) await call('patchRule', { id: edited.id, version: edited.version, rule })
      else await call('addRule', rule)
      onClose()
    } catch (error) {
      setProblem(errorMessage(error))
      setSending(false)
    }
  }
  const test = () => {
    const rule = draft()
    if (rule) setTested(rule)
    else setProblem(ruleFormTexts.incomplete)
  }
  const title = edited ? ruleFormTexts.editTitle : ruleFormTexts.newTitle
  return (
    <Dialog label={title} className="rule-dialog" onClose={onClose}>
      <form className="rule-form" onKeyDown={submitByKey} onSubmit={event => void save(event)} noValidate>
        <h1>{title}</h1>
        <TargetFields {...{ form, edited, effects }} onChange={change} />
        <LimitFields {...{ form, edited }} onChange={change} />
        {tested && <Preview rule={tested} />}
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" className="button plain rule-form-test" disabled={!live} onClick={test}>
            {ruleFormTexts.test}
          </button>
          <SendHint send={live && !sending ? save : null} does={ruleFormTexts.keySaves} />
          <button type="button" className="button" onClick={onClose}>
            {ruleFormTexts.cancel}
          </button>
          <button type="submit" className="button primary" disabled={!live || sending}>
            {sending ? ruleFormTexts.saving : edited ? ruleFormTexts.save : ruleFormTexts.add}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function Preview({ rule }: { readonly rule: RuleDraft }): ReactNode {
  return <RulePreviewView result={useRulePreview(rule)} />
}
