/** Options that several commands share. */
import { Option } from 'commander'
import { jsonHelp } from './help-texts.ts'

export function jsonOption(what: keyof typeof jsonHelp): Option {
  return new Option('--json', jsonHelp[what])
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}
