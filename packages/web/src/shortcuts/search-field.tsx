/** The search field of a list. The `/` key focuses the field. Escape clears the field, or leaves the field if it is empty. */
import { type ReactNode, useRef } from 'react'
import { useShortcuts } from './use-shortcuts.ts'

export interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly maxLength: number
  readonly onChange: (value: string) => void
  /** Called when the person presses Enter. */
  readonly onEnter?: () => void
}

export function SearchField({ label, value, maxLength, onChange, onEnter }: SearchFieldProps): ReactNode {
  const field = useRef<HTMLInputElement>(null)
  useShortcuts({ search: () => field.current?.select() })
  return (
    <input
      ref={field}
      type="search"
      className="input search-field"
      aria-label={label}
      placeholder={label}
      maxLength={maxLength}
      spellCheck={false}
      value={value}
      onChange={event => onChange(event.target.value)}
      onKeyDown={event => {
        if (event.key === 'Enter' && onEnter && !event.nativeEvent.isComposing) {
          event.preventDefault()
          onEnter()
        }
        if (event.key !== 'Escape') return
        if (value) onChange('')
        else event.currentTarget.blur()
      }}
    />
  )
}
