/** A form field with a label, and below it an error message or a hint. */
import { type ReactNode, useId } from 'react'

export interface FieldProps {
  readonly label: string
  readonly hint?: string
  readonly problem?: string | undefined
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby': string | undefined }) => ReactNode
}

export function Field({ label, hint, problem, children }: FieldProps): ReactNode {
  const id = useId()
  const described = problem ? `${id}-problem` : hint ? `${id}-hint` : undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described })}
      {problem ? (
        <p id={`${id}-problem`} className="problem" role="alert">
          {problem}
        </p>
      ) : (
        hint && (
          <p id={`${id}-hint`} className="faint small">
            {hint}
          </p>
        )
      )}
    </div>
  )
}
