/** A row of filter options. Exactly one option is selected. */
import type { ReactNode } from 'react'
import './segmented-filter.css'

export interface SegmentedFilterProps<T extends string> {
  readonly label: string
  /** Shows the label before the options. Otherwise only screen readers are told. */
  readonly showLabel?: boolean
  readonly options: readonly { readonly value: T; readonly name: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
}

export function SegmentedFilter<T extends string>({
  label,
  showLabel = false,
  options,
  value,
  onChange,
}: SegmentedFilterProps<T>): ReactNode {
  return (
    <fieldset className="filter-choices fades-at-end">
      <legend className="visually-hidden">{label}</legend>
      {showLabel && (
        <span className="filter-label" aria-hidden="true">
          {label}
        </span>
      )}
      {options.map(option => (
        <label key={option.value} className="filter-choice">
          <input
            type="radio"
            className="visually-hidden"
            name={label}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.name}
        </label>
      ))}
    </fieldset>
  )
}
