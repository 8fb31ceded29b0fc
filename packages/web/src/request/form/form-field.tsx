/** One field of a form, with the control that fits its schema. */
import { exactText, isExactField, labelText, type RawField } from '@holdpoint/client'
import { type FormField, fieldChoices, isSecretField } from '@holdpoint/protocol'
import { type ReactNode, useId, useRef } from 'react'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { ExactValue } from '../../text/exact-value.tsx'
import { hidesCharacters } from '../../text/field-value.ts'
import { Sentences } from '../../text/prose.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import { formTexts } from '../texts.ts'
import { controlOf, defaultRaw, typedText } from './form-values.ts'
import '../choices.css'
import './form-field.css'

export interface FormFieldProps {
  readonly name: string
  readonly field: FormField
  readonly required: boolean
  readonly raw: RawField
  readonly onRaw: (raw: RawField) => void
  /** True if the person confirmed the value although the field hides some of its characters. */
  readonly isConfirmed: boolean
  readonly onConfirm: (raw: RawField | undefined) => void
  /** The problem to show, if any. */
  readonly problem: string | undefined
  readonly submission: Pick<AnswerSubmission, 'disabled' | 'sendingLabel'>
}

export function FormFieldView(props: FormFieldProps): ReactNode {
  const { name, field, required, raw, onRaw, problem, submission } = props
  const id = useId()
  const control = controlOf(field)
  const isGroup = control === 'radios' || control === 'checkboxes'
  const title = (
    <>
      <InlineAgentText text={field.title ?? name} className="field-title agent-background" />
      {!required && control !== 'switch' && <span className="faint"> {formTexts.optional}</span>}
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
          {problemText(problem)}
        </p>
      )}
    </>
  )
  const descriptions = [field.description !== undefined && `${id}about`, problem !== undefined && `${id}problem`]
  const aria = { 'aria-describedby': descriptions.filter(Boolean).join(' ') || undefined }
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
            disabled={submission.disabled}
            onChange={event => onRaw(event.target.checked)}
            {...aria}
          />
          <span className="choice-text">{title}</span>
        </label>
        {about}
      </div>
    )
  if (isGroup)
    return (
      <fieldset className="form-field" disabled={submission.disabled} data-invalid={problem !== undefined} {...aria}>
        <legend>{title}</legend>
        <Choices {...props} name={id} />
        {about}
      </fieldset>
    )
  return (
    <div className={control === 'textarea' ? 'form-field full-width' : 'form-field'}>
      <label htmlFor={id}>{title}</label>
      <TextControl {...props} id={id} aria={{ ...aria, 'aria-invalid': problem !== undefined }} />
      <HiddenCharacters {...props} />
      {about}
    </div>
  )
}

function problemText(problem: string): string {
  return problem === 'is required' ? formTexts.required : formTexts.problem(labelText(problem))
}

function Choices({ field, required, raw, onRaw, name }: FormFieldProps): ReactNode {
  const isMultiple = field.type === 'array'
  const picked = Array.isArray(raw) ? raw : []
  const toggle = (value: string) =>
    onRaw(picked.includes(value) ? picked.filter(each => each !== value) : [...picked, value])
  const box = useRef<HTMLDivElement>(null)
  const clear = () => {
    // The focused button disappears, so move the focus to the choices.
    box.current?.querySelector('input')?.focus()
    onRaw('')
  }
  return (
    <div ref={box} className="choices inline">
      {(fieldChoices(field) ?? []).map(({ value, title }) => (
        <label key={value} className="choice">
          <input
            type={isMultiple ? 'checkbox' : 'radio'}
            name={name}
            checked={isMultiple ? picked.includes(value) : raw === value}
            onChange={() => (isMultiple ? toggle(value) : onRaw(value))}
          />
          <span className="choice-text agent-background">
            <InlineAgentText text={title} />
            {title !== value && <ExactText text={value} className="mono soft choice-value" />}
          </span>
        </label>
      ))}
      {!isMultiple && !required && raw !== '' && (
        <button type="button" className="button plain small" onClick={clear}>
          {formTexts.clear}
        </button>
      )}
    </div>
  )
}

/** Shows the exact value if the control does not, and lets the person confirm it. A secret that the person typed is not shown. */
function HiddenCharacters({ field, raw, isConfirmed, onConfirm, submission }: FormFieldProps): ReactNode {
  const text = typedText(field, raw)
  if (text === null || text === '') return null
  const isPrivate = isSecretField(field) && raw !== defaultRaw(field)
  return (
    <>
      {!isPrivate && <ExactValue value={text} isOneLine={controlOf(field) === 'input'} />}
      {hidesCharacters(text) && (
        <label className="choice confirm-hidden">
          <input
            type="checkbox"
            checked={isConfirmed}
            disabled={submission.disabled}
            onChange={event => onConfirm(event.target.checked ? raw : undefined)}
          />
          <span className="choice-text">{formTexts.confirmHidden}</span>
        </label>
      )}
    </>
  )
}

const inputTypes: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' }

interface TextControlProps extends FormFieldProps {
  readonly id: string
  readonly aria: Readonly<Record<string, unknown>>
}

function TextControl({ id, field, raw, onRaw, submission, aria }: TextControlProps): ReactNode {
  const control = controlOf(field)
  const shared = {
    id,
    ...(isExactField(field) ? { className: 'input stored-order', dir: 'ltr' } : { className: 'input', dir: 'auto' }),
    value: String(raw),
    onChange: (event: { readonly target: { readonly value: string } }) => onRaw(event.target.value),
    ...aria,
  }
  if (control === 'select')
    return (
      <select {...shared} className="input stored-order" disabled={submission.disabled}>
        <option value="">—</option>
        {(fieldChoices(field) ?? []).map(({ value, title }) => (
          <option key={value} value={value}>
            {title === value ? exactText(title) : `${labelText(title)} (${exactText(value)})`}
          </option>
        ))}
      </select>
    )
  // The field is not disabled while the gateway is unreachable, so that the person can keep writing.
  const textProps = { ...shared, readOnly: submission.sendingLabel !== null }
  // The text area must be tall enough to show all lines of the default value.
  const lines = String(defaultRaw(field)).split('\n').length
  if (control === 'textarea') return <textarea {...textProps} rows={Math.max(4, lines)} />
  if (control === 'lines')
    return <textarea {...textProps} rows={Math.max(3, lines)} placeholder={formTexts.onePerLine} />
  const format = field.type === 'string' ? (field.format ?? '') : ''
  const secret = isSecretField(field)
  const numeric = field.type === 'integer' || field.type === 'number'
  return (
    <input
      {...textProps}
      type={secret ? 'password' : Object.hasOwn(inputTypes, format) ? inputTypes[format] : 'text'}
      inputMode={field.type === 'integer' ? 'numeric' : numeric ? 'decimal' : undefined}
      autoComplete="off"
      spellCheck={!secret}
      placeholder={format === 'date-time' ? '2026-01-31T12:00:00Z' : undefined}
    />
  )
}
