/** The filter fields of the Audit log screen. */
import { cutMiddle, labelText, omissionMarker, sessionName } from '@holdpoint/client'
import { type AuditEntry, limits, type Session } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import { useSessions } from '../../gateway/gateway-context.ts'
import { newestFirst } from '../../gateway/session-groups.ts'
import { SearchField } from '../../shortcuts/search-field.tsx'
import { SegmentedFilter } from '../../ui/segmented-filter.tsx'
import { recentFolders } from '../shell/new-session/new-session-form.ts'
import type { AuditFilter } from './audit-filter.ts'
import { answerChoices, auditTexts, byChoices } from './texts.ts'
import { usePeople } from './use-people.ts'

export interface AuditFiltersProps {
  readonly filter: AuditFilter
  readonly onChange: (change: Partial<AuditFilter>) => void
  /** The loaded entries, whose people can be chosen. */
  readonly entries: readonly AuditEntry[]
}

export function AuditFilters({ filter, onChange, entries }: AuditFiltersProps): ReactNode {
  const { by, answer, from, to, q } = filter
  const [open, setOpen] = useState(false)
  return (
    <div className={`page-filter audit-filters ${open ? 'open' : ''}`}>
      <div className="audit-fields">
        <SearchField
          label={auditTexts.search}
          value={q}
          maxLength={limits.nameMax}
          onChange={text => onChange({ q: text })}
        />
        <button type="button" className="button only-phone" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? auditTexts.fewerFilters : auditTexts.moreFilters}
        </button>
        <SessionSelect {...{ filter, onChange }} />
        <PersonSelect {...{ filter, onChange, entries }} />
        <FolderField {...{ filter, onChange }} />
        <DateField label={auditTexts.from} value={from} onChange={date => onChange({ from: date })} />
        <DateField label={auditTexts.to} value={to} onChange={date => onChange({ to: date })} />
      </div>
      <div className="audit-choices">
        <SegmentedFilter
          label={auditTexts.answeredBy}
          showLabel
          options={byChoices}
          value={by}
          onChange={chosen => onChange({ by: chosen })}
        />
        <SegmentedFilter
          label={auditTexts.answer}
          showLabel
          options={answerChoices}
          value={answer}
          onChange={chosen => onChange({ answer: chosen })}
        />
      </div>
    </div>
  )
}

const optionsMax = 200
const titleMax = 60

function optionText(text: string): string {
  const { head, omitted, tail } = cutMiddle(text, titleMax)
  return `${labelText(head)}${omissionMarker(omitted)}${labelText(tail)}`
}

type FieldProps = Pick<AuditFiltersProps, 'filter' | 'onChange'>

function SessionSelect({ filter, onChange }: FieldProps): ReactNode {
  const sessions = useSessions()
  const sorted = useMemo(() => [...sessions.values()].sort(newestFirst).slice(0, optionsMax), [sessions])
  return (
    <select
      className="input session-select"
      aria-label={auditTexts.session}
      value={filter.session ?? ''}
      onChange={event => onChange({ session: sorted.find(({ id }) => id === event.target.value)?.id ?? null })}
    >
      <option value="">{auditTexts.allSessions}</option>
      {sorted.map((session: Session) => (
        <option key={session.id} value={session.id}>
          {optionText(sessionName(session))}
        </option>
      ))}
    </select>
  )
}

/** Offers everyone who may have answered: the signed-in person, people with access, and everyone who answered a loaded entry. */
function PersonSelect({ filter, onChange, entries }: AuditFiltersProps): ReactNode {
  const people = usePeople(entries)
  const isListed = filter.person === '' || people.has(filter.person)
  return (
    <select
      className="input session-select"
      aria-label={auditTexts.person}
      value={filter.person}
      onChange={event => onChange({ person: event.target.value })}
    >
      <option value="">{auditTexts.everyone}</option>
      {!isListed && <option value={filter.person}>{labelText(filter.person)}</option>}
      {[...people].map(([id, name]) => (
        <option key={id} value={id}>
          {optionText(name)}
        </option>
      ))}
    </select>
  )
}

/** A text field that suggests the folders of known sessions. */
function FolderField({ filter, onChange }: FieldProps): ReactNode {
  const sessions = useSessions()
  const folders = useMemo(() => recentFolders(sessions.values(), optionsMax).toSorted(), [sessions])
  return (
    <>
      <input
        className="input code"
        aria-label={auditTexts.folder}
        placeholder={auditTexts.folder}
        list="audit-folders"
        maxLength={limits.pathMax}
        spellCheck={false}
        autoComplete="off"
        value={filter.folder}
        onChange={event => onChange({ folder: event.target.value })}
      />
      <datalist id="audit-folders">
        {folders.map(folder => (
          <option key={folder} value={folder} />
        ))}
      </datalist>
    </>
  )
}

interface DateFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function DateField({ label, value, onChange }: DateFieldProps): ReactNode {
  return (
    <label className="audit-date">
      <span>{label}</span>
      <input type="date" className="input" value={value} onChange={event => onChange(event.target.value)} />
    </label>
  )
}
