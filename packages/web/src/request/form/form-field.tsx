/** One field of a form, drawn by what its schema says of it. */
import type { RawField } from '@holdpoint/client'
import { escapeInvisible, type FormField, fieldChoices, isSecretField } from '@holdpoint/protocol'
import { type ReactNode, useId, useRef } from 'react'
import { InlineAgentText, Sentences } from '../../text/agent-text.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import { controlOf, presetOf } from './form-values.ts'
import '../choices.css'
import './form-field.css'

export interface FormFieldProps {
  readonly name: string
  readonly field: FormField
  readonly required: boolean
  readonly raw: RawField
  readonly onRaw: (raw: RawField) => void
  /** Shown once it is time to. */
  readonly problem: string | undefined
  readonly hand: Pick<AnswerSubmission, 'held' | 'pressed'>
}

export function FormFieldView(props: FormFieldProps): ReactNode {
  const { name, field, required, raw, onRaw, problem, hand } = props
  const id = useId()
  const control = controlOf(field)
  const grouped = control === 'options' || control === 'ticks'
  const title = (
    <>
      <InlineAgentText text={field.title ?? name} className="field-title" />
      {!required && control !== 'switch' && <span className="faint"> optional</span>}
    </>
  )
  const about = (
    <>
      {field.description !== undefined && (
        <div className="field-about agent-background" id={`${id}about`}>
          <Sentences text={field.description} />
        </div>
      )}
      {problem !== undefined && (
        <p className="problem" id={`${id}problem`}>
          {problemWords(problem)}
        </p>
      )}
    </>
  )
  const described = [field.description !== undefined && `${id}about`, problem !== undefined && `${id}problem`]
  const spoken = { 'aria-describedby': described.filter(Boolean).join(' ') || undefined }
  if (control === 'switch')
    return (
      <div className="form-field">
        <label className="choice">
          <input
            type="checkbox"
            role="switch"
            className="switch"
            checked={raw === true}
            aria-checked={raw === true}
            disabled={hand.held}
            onChange={event => onRaw(event.target.checked)}
            {...spoken}
          />
          <span className="choice-text">{title}</span>
        </label>
        {about}
      </div>
    )
  if (grouped)
    return (
      <fieldset className="form-field" disabled={hand.held} {...spoken}>
        <legend>{title}</legend>
        <Choices {...props} name={id} />
        {about}
      </fieldset>
    )
  return (
    <div className={control === 'area' ? 'form-field full-width' : 'form-field'}>
      <label htmlFor={id}>{title}</label>
      <TextControl {...props} id={id} spoken={{ ...spoken, 'aria-invalid': problem !== undefined }} />
      {about}
    </div>
  )
}

function problemWords(problem: string): string {
  return problem === 'is required' ? 'This is needed.' : `This ${escapeInvisible(problem)}.`
}

function Choices({ field, required, raw, onRaw, name }: FormFieldProps): ReactNode {
  const many = field.type === 'array'
  const picked = Array.isArray(raw) ? raw : []
  const toggle = (value: string) =>
    onRaw(picked.includes(value) ? picked.filter(each => each !== value) : [...picked, value])
  const box = useRef<HTMLDivElement>(null)
  const clear = () => {
    // The button goes: whoever was at it is at the choices.
    box.current?.querySelector('input')?.focus()
    onRaw('')
  }
  return (
    <div ref={box} className="choices inline">
      {(fieldChoices(field) ?? []).map(({ value, title }) => (
        <label key={value} className="choice">
          <input
            type={many ? 'checkbox' : 'radio'}
            name={name}
            checked={many ? picked.includes(value) : raw === value}
            onChange={() => (many ? toggle(value) : onRaw(value))}
          />
          <span className="choice-text agent-background">
            <InlineAgentText text={title} />
          </span>
        </label>
      ))}
      {!many && !required && raw !== '' && (
        <button type="button" className="button plain small" onClick={clear}>
          Clear
        </button>
      )}
    </div>
  )
}

const inputTypes: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' }

interface TextControlProps extends FormFieldProps {
  readonly id: string
  readonly spoken: Readonly<Record<string, unknown>>
}

function TextControl({ id, field, raw, onRaw, hand, spoken }: TextControlProps): ReactNode {
  const control = controlOf(field)
  const shared = {
    id,
    className: 'input',
    value: String(raw),
    onChange: (event: { readonly target: { readonly value: string } }) => onRaw(event.target.value),
    ...spoken,
  }
  if (control === 'select')
    return (
      <select {...shared} disabled={hand.held}>
        <option value="">—</option>
        {(fieldChoices(field) ?? []).map(({ value, title }) => (
          <option key={value} value={value}>
            {escapeInvisible(title)}
          </option>
        ))}
      </select>
    )
  // Whoever writes goes on while the gateway is away.
  const written = { ...shared, readOnly: hand.pressed !== null }
  // What is filled in already is seen whole.
  const lines = String(presetOf(field)).split('\n').length
  if (control === 'area') return <textarea {...written} rows={Math.max(4, lines)} />
  if (control === 'lines') return <textarea {...written} rows={Math.max(3, lines)} placeholder="One on each line" />
  const format = field.type === 'string' ? (field.format ?? '') : ''
  const secret = isSecretField(field)
  const numeric = field.type === 'integer' || field.type === 'number'
  return (
    <input
      {...written}
      type={secret ? 'password' : Object.hasOwn(inputTypes, format) ? inputTypes[format] : 'text'}
      inputMode={field.type === 'integer' ? 'numeric' : numeric ? 'decimal' : undefined}
      autoComplete="off"
      spellCheck={!secret}
      placeholder={format === 'date-time' ? '2026-01-31T12:00:00Z' : undefined}
    />
  )
}
