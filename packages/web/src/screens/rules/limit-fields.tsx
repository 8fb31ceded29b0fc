/** The fields of the rule form that say where the rule applies, how long, and what people and agents read about it. */
import {
  cutMiddle,
  driverLabel,
  exactText,
  labelText,
  omissionMarker,
  ruleDurations,
  sessionName,
} from '@holdpoint/client'
import { limits, type Session } from '@holdpoint/protocol'
import { type ReactNode, type ToggleEvent, useMemo } from 'react'
import { useSessions } from '../../gateway/gateway-context.ts'
import { newestFirst } from '../../gateway/session-groups.ts'
import { useDrivers } from '../../gateway/use-driver.ts'
import { parseUses } from '../../request/rule/rule-limits.ts'
import { limitTexts } from '../../request/rule/texts.ts'
import { DisclosureIcon } from '../../ui/disclosure-icon.tsx'
import { Field } from '../../ui/field.tsx'
import { FolderInput } from './folder-input.tsx'
import { isOffered, needsFolder, type RuleForm } from './rule-form.ts'
import { type RuleFieldsProps, Select } from './target-fields.tsx'
import { ruleFormTexts } from './texts.ts'

export function LimitFields({ form, edited, onChange }: RuleFieldsProps): ReactNode {
  const { effect, uses, message, note } = form
  const usesProblem = parseUses(uses) === null ? limitTexts.badUses : undefined
  const offered = ruleDurations
    .filter(({ name }) => isOffered(name, form))
    .map(({ name, label }) => ({ value: name, name: label }))
  const hasEnd = edited !== null && (edited.expiresAt !== undefined || edited.until !== undefined)
  return (
    <>
      <div className="rule-form-pair">
        <Field label={ruleFormTexts.folder} hint={ruleFormTexts.folderHints[needsFolder(form) ? 'needed' : 'optional']}>
          {ids => <FolderInput {...ids} value={form.folder} onChange={folder => onChange({ folder })} />}
        </Field>
        <SessionField form={form} onChange={onChange} />
      </div>
      <div className="rule-form-pair">
        <Select
          label={ruleFormTexts.duration}
          value={form.duration}
          options={hasEnd ? [{ value: 'keep', name: ruleFormTexts.keepDuration }, ...offered] : offered}
          onChange={duration => onChange({ duration })}
        />
        {effect === 'allow' && (
          <Field label={limitTexts.uses} problem={usesProblem}>
            {ids => (
              <input
                {...ids}
                className="input"
                inputMode="numeric"
                autoComplete="off"
                placeholder={limitTexts.anyUses}
                value={uses}
                onChange={event => onChange({ uses: event.target.value })}
              />
            )}
          </Field>
        )}
      </div>
      <MoreLimits form={form} edited={edited} onChange={onChange} />
      {effect === 'deny' && (
        <Note
          label={ruleFormTexts.message}
          hint={ruleFormTexts.messageHint}
          value={message}
          onChange={text => onChange({ message: text })}
        />
      )}
      <Note label={ruleFormTexts.note} value={note} onChange={text => onChange({ note: text })} />
    </>
  )
}

/** Limits that few rules have. They are shown at once if the edited rule has one of them. */
function MoreLimits({ form, edited, onChange }: RuleFieldsProps): ReactNode {
  const isOpen = edited?.scope?.driver !== undefined || edited?.scope?.agentPath !== undefined
  return (
    <details className="rule-form-more" open={isOpen} onToggle={showOpened}>
      <summary>
        <DisclosureIcon /> {ruleFormTexts.moreLimits}
      </summary>
      <div className="rule-form-pair">
        <DriverField form={form} onChange={onChange} />
        <Field label={ruleFormTexts.subagent} hint={ruleFormTexts.subagentHint}>
          {ids => (
            <textarea
              {...ids}
              className="input code stored-order"
              rows={2}
              spellCheck={false}
              autoCapitalize="off"
              value={form.subagent}
              onChange={event => onChange({ subagent: event.target.value })}
            />
          )}
        </Field>
      </div>
    </details>
  )
}

/** Scrolls to the fields that the person has just opened. */
function showOpened({ currentTarget }: ToggleEvent<HTMLElement>): void {
  if (currentTarget.contains(document.activeElement)) currentTarget.scrollIntoView({ block: 'nearest' })
}

type ScopeFieldProps = Pick<RuleFieldsProps, 'form' | 'onChange'>

function DriverField({ form: { driver }, onChange }: ScopeFieldProps): ReactNode {
  const drivers = useDrivers()
  // Several runners may offer the same driver.
  const titles = new Map(drivers.map(({ name, title }) => [name, labelText(driverLabel(name, title))]))
  return (
    <Select
      label={ruleFormTexts.driver}
      value={driver}
      options={[
        { value: '', name: ruleFormTexts.allDrivers },
        ...[...titles].map(([value, name]) => ({ value, name })),
        ...(driver === '' || titles.has(driver) ? [] : [{ value: driver, name: exactText(driver) }]),
      ]}
      onChange={value => onChange({ driver: value })}
    />
  )
}

interface NoteProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function Note({ label, hint, value, onChange }: NoteProps): ReactNode {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {ids => (
        <textarea
          {...ids}
          className="input"
          dir="auto"
          rows={2}
          maxLength={limits.reasonMax}
          value={value}
          onChange={event => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

const optionsMax = 100
const titleMax = 40

function optionText(session: Session): string {
  const { head, omitted, tail } = cutMiddle(sessionName(session), titleMax)
  return `${labelText(head)}${omissionMarker(omitted)}${labelText(tail)}`
}

function SessionField({ form, onChange }: ScopeFieldProps): ReactNode {
  const sessions = useSessions()
  const open = useMemo(
    () =>
      [...sessions.values()]
        .filter(({ state }) => state !== 'ended')
        .sort(newestFirst)
        .slice(0, optionsMax),
    [sessions],
  )
  const isOther = form.session !== null && !open.some(({ id }) => id === form.session)
  const change = (id: string) => {
    const session = open.find(each => each.id === id)?.id ?? null
    const next: RuleForm = { ...form, session }
    const keepsDuration = form.duration === 'keep' || isOffered(form.duration, next)
    onChange({ session, ...(!keepsDuration && { duration: 'none' }) })
  }
  return (
    <Field label={ruleFormTexts.session}>
      {ids => (
        <select
          {...ids}
          className="input session-select"
          value={form.session ?? ''}
          onChange={event => change(event.target.value)}
        >
          <option value="">{ruleFormTexts.allSessions}</option>
          {isOther && form.session !== null && <option value={form.session}>{ruleFormTexts.otherSession}</option>}
          {open.map(session => (
            <option key={session.id} value={session.id}>
              {optionText(session)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
