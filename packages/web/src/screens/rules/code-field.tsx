/** A labelled input for a command, a path or a name, whose letters are drawn in stored order. */
import type { ReactNode } from 'react'
import { Field } from '../../ui/field.tsx'

export interface CodeFieldProps {
  readonly label: string
  readonly hint?: string
  readonly required?: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}

export function CodeField({ label, hint, required, value, onChange }: CodeFieldProps): ReactNode {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {ids => (
        <input
          {...ids}
          className="input code stored-order"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          required={required}
          value={value}
          onChange={event => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
