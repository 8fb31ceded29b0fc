/** The exact value of a text field, below the field, if the field itself does not show all of the value. */
import TriangleAlertIcon from 'lucide-react/icons/triangle-alert'
import type { ReactNode } from 'react'
import { Code } from './code.tsx'
import { needsExactValue } from './field-value.ts'
import { exactValueTexts } from './texts.ts'
import './exact-value.css'

export interface ExactValueProps {
  readonly value: string
  /** True if the field has one line. */
  readonly isOneLine: boolean
}

export function ExactValue({ value, isOneLine }: ExactValueProps): ReactNode {
  if (!needsExactValue(value, isOneLine)) return null
  return (
    <div className="exact-value">
      <span className="soft small">{exactValueTexts.label}</span>
      <Code text={value} />
      {value.trim() !== value && (
        <p className="text-warning small">
          <TriangleAlertIcon /> {exactValueTexts.outerBlanks}
        </p>
      )}
    </div>
  )
}
