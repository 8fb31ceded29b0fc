/** Turns the two groups of commands on and off for folders. */
import type { CommandGroup, Rule } from '@holdpoint/protocol'
import { type ReactNode, type SyntheticEvent, useId, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive, useMay } from '../../gateway/gateway-context.ts'
import { ruleTexts } from '../../request/rule/texts.ts'
import { ExactText } from '../../text/agent-text.tsx'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { FolderInput } from './folder-input.tsx'
import { isEditable } from './rule-filter.ts'
import { groupTexts, rowTexts } from './texts.ts'
import { useMayChange } from './use-may-change.ts'
import './command-groups.css'

export function CommandGroups({ rules }: { readonly rules: readonly Rule[] }): ReactNode {
  return (
    <section className="command-groups" aria-label={groupTexts.title}>
      <h2 className="section-heading">{groupTexts.title}</h2>
      <p className="soft small">{groupTexts.introduction}</p>
      <div className="group-list">
        <GroupCard group="only-reads" rules={rules} />
        <GroupCard group="project-code" rules={rules} />
      </div>
    </section>
  )
}

interface GroupProps {
  readonly group: CommandGroup
  readonly rules: readonly Rule[]
}

function GroupCard({ group, rules }: GroupProps): ReactNode {
  const { name, about } = ruleTexts.groups[group]
  const mayTurnOn = useMay()('rule.allow')
  const on = rules.filter(rule => rule.group === group && rule.effect === 'allow' && isEditable(rule))
  return (
    <section className="group-card" aria-label={name}>
      <h3>{name}</h3>
      <p className="soft small">{about}</p>
      {on.length === 0 ? (
        <p className="small">{groupTexts.off}</p>
      ) : (
        <ul className="group-folders" aria-label={groupTexts.onIn}>
          {on.map(rule => (
            <GroupFolder key={rule.id} rule={rule} name={name} />
          ))}
        </ul>
      )}
      {mayTurnOn && <TurnOn group={group} name={name} />}
    </section>
  )
}

function GroupFolder({ rule, name }: { readonly rule: Rule; readonly name: string }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const mayTurnOff = useMayChange()(rule)
  const [problem, setProblem] = useState('')
  const turnOff = () => call('removeRule', { id: rule.id }).catch((error: unknown) => setProblem(errorMessage(error)))
  return (
    <li className="group-folder">
      <span className="small">
        {groupTexts.onIn} <ExactText text={rule.scope?.cwd ?? ''} className="mono agent-background rule-exact" />
        {rule.paused && ` (${rowTexts.paused})`}
      </span>
      {mayTurnOff && (
        <ConfirmButton
          label={`${groupTexts.turnOff}…`}
          question={groupTexts.turnOffQuestion(name)}
          confirmLabel={groupTexts.turnOff}
          disabled={!live}
          className="small"
          onConfirm={() => void turnOff()}
        />
      )}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </li>
  )
}

function TurnOn({ group, name }: { readonly group: CommandGroup; readonly name: string }): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [folder, setFolder] = useState('')
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const id = useId()
  const turnOn = async (event: SyntheticEvent) => {
    event.preventDefault()
    const cwd = folder.trim()
    if (!/^(?:[/\\]|[a-z]:)/i.test(cwd)) return setProblem(groupTexts.needsAbsolute)
    setSending(true)
    setProblem('')
    try {
      await call('addRule', { effect: 'allow', group, scope: { cwd } })
      setFolder('')
    } catch (error) {
      setProblem(errorMessage(error))
    }
    setSending(false)
  }
  return (
    <form className="turn-on" onSubmit={event => void turnOn(event)} noValidate>
      <label className="visually-hidden" htmlFor={id}>
        {groupTexts.turnOnFor(name)}
      </label>
      <FolderInput
        id={id}
        aria-describedby={problem ? `${id}-problem` : undefined}
        value={folder}
        onChange={setFolder}
      />
      <button type="submit" className="button" disabled={!live || sending}>
        {groupTexts.turnOn}
      </button>
      {problem && (
        <p id={`${id}-problem`} className="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}
