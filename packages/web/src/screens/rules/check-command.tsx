/** A form that tells what the rules decide about a command, without running it. */
import type { Verdict } from '@holdpoint/protocol'
import { type ReactNode, type SyntheticEvent, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway } from '../../gateway/gateway-context.ts'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { Field } from '../../ui/field.tsx'
import { CodeField } from './code-field.tsx'
import { FolderInput } from './folder-input.tsx'
import { checkTexts } from './texts.ts'
import './check-command.css'

export function CheckCommand(): ReactNode {
  const { call } = useGateway()
  const [command, setCommand] = useState('')
  const [folder, setFolder] = useState('')
  const [checking, setChecking] = useState(false)
  const [verdict, setVerdict] = useState<Verdict | null>(null)
  const [problem, setProblem] = useState('')
  const check = async (event: SyntheticEvent) => {
    event.preventDefault()
    setChecking(true)
    setProblem('')
    setVerdict(null)
    const cwd = folder.trim()
    try {
      const ask = { kind: 'approval', tool: 'Bash', title: command, input: { command }, cwd, editable: true } as const
      setVerdict(await call('checkRules', { ask: { ...ask, title: checkTexts.command } }))
    } catch (error) {
      setProblem(errorMessage(error))
    }
    setChecking(false)
  }
  return (
    <section className="check-command" aria-labelledby="check-command">
      <h2 id="check-command" className="section-heading">
        {checkTexts.title}
      </h2>
      <form className="check-form" onSubmit={event => void check(event)}>
        <CodeField label={checkTexts.command} required value={command} onChange={setCommand} />
        <Field label={checkTexts.folder}>
          {ids => <FolderInput {...ids} required value={folder} onChange={setFolder} />}
        </Field>
        <button type="submit" className="button" disabled={checking}>
          {checking ? checkTexts.checking : checkTexts.check}
        </button>
      </form>
      <div role="status">
        {verdict && <VerdictView verdict={verdict} />}
        {problem && <p className="problem">{problem}</p>}
      </div>
    </section>
  )
}

function VerdictView({ verdict: { verdict, rule, reason } }: { readonly verdict: Verdict }): ReactNode {
  return (
    <p className="small verdict">
      <strong className="strong">{checkTexts.verdicts[verdict]}</strong> <InlineAgentText text={reason} />{' '}
      {rule && (
        <span className="soft">
          {checkTexts.byRule} <ExactText text={rule} className="mono" />
        </span>
      )}
    </p>
  )
}
