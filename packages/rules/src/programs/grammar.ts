/** Defines the grammar of a program: the options that Holdpoint accepts, the values they take, and the other arguments. */
import type { CommandGroup } from '@holdpoint/protocol'
import type { TreeFilter } from '../files/check-tree.ts'
import type { CallSite } from '../site.ts'

/**
 * `number`: an integer, perhaps with a sign. `text`: any text; the program neither runs it nor takes it as a file name.
 * `word`: a name without spaces and slashes. `file`: a file whose content is read. `listed`: a file or folder of which only
 * names, sizes and times are read. `tree`: a folder whose whole content is read. `revision`: a commit, branch or range of git,
 * or a path. `lines`: lines or a function of a file of git (`1,5:a.ts`, `:main:a.ts`). `test`: a file or folder, perhaps with the name of a test (`test_a.py::test_b`). `package`: a file or folder,
 * perhaps with everything in it (`./...`). `workspace`: a package of the project, by its folder or its name, which can start
 * with `@`. `none`: nothing.
 */
export const valueKinds = [
  'number',
  'text',
  'word',
  'file',
  'listed',
  'tree',
  'revision',
  'lines',
  'test',
  'package',
  'workspace',
  'none',
] as const
export type ValueKind = (typeof valueKinds)[number]

export interface Flag {
  /** Whether the flag takes a value. An optional value must be attached: `--color=auto`, `-U3`. A required value must be attached if the program accepts it only in this form. */
  readonly value: 'none' | 'required' | 'optional'
  readonly kind: ValueKind
  /** The only values that are accepted, or null. */
  readonly choices: ReadonlySet<string> | null
}
export type Flags = ReadonlyMap<string, Flag>

export interface ParsedArguments {
  /** The values of each flag in the order in which they were given; an empty text for a flag without a value. */
  readonly flags: ReadonlyMap<string, readonly string[]>
  readonly operands: readonly string[]
  /** The arguments after `--`, if the grammar has separate rules for them. */
  readonly rest: readonly string[]
}

export interface Operands {
  /** The kinds of the first operands. */
  readonly first?: readonly ValueKind[]
  /** The kind of all others. */
  readonly others: ValueKind
  readonly least?: number
  readonly most?: number
  /** How the program reads its current folder if it gets no operand after the first ones. */
  readonly own?: 'tree' | 'listed'
  /** The files of a folder that the program skips. */
  readonly filter?: TreeFilter
}

export interface Grammar {
  readonly group: CommandGroup
  readonly flags: Flags
  /**
   * `clusters`: short options can be joined (`-la`), and options may come after operands, though not on every system.
   * `anywhere`: likewise, on every system. `alone`: like `anywhere`, but an option with a value must not be joined with it or
   * with others, because programs disagree about what `-tc=x` means. `words`: an option with one dash is a word (`-run`), as for
   * Go's programs.
   */
  readonly style: 'clusters' | 'anywhere' | 'alone' | 'words'
  /** Whether the program takes no options after an operand. */
  readonly optionsFirst?: true
  readonly operands: Operands | ((parsed: ParsedArguments) => Operands)
  /** Arguments after `--` go to another program, and must follow this grammar. If it is left out, `--` only ends the options. */
  readonly passedOn?: Grammar | ((parsed: ParsedArguments) => Grammar)
  /** Returns why these arguments are refused although each of them is accepted, or null. */
  readonly refuses?: (parsed: ParsedArguments, site: CallSite) => string | null
}

/**
 * Reads a list of flags: `-l --all -n=number --color?=auto|never`. A value in lower-case letters that names a kind is one;
 * otherwise it lists the values that are accepted. `-#` stands for a number as an option, as in `head -20`.
 */
export function flagsOf(...lists: readonly string[]): Flags {
  const flags = new Map<string, Flag>()
  for (const item of lists.join(' ').split(/\s+/)) {
    if (item === '') continue
    const [, name = '', mark, value = ''] = /^([^=?]+)(?:(\?=|=)(.*))?$/.exec(item) ?? []
    const kind = valueKinds.find(known => known === value)
    flags.set(name, {
      value: mark === undefined ? 'none' : mark === '=' ? 'required' : 'optional',
      kind: kind ?? 'text',
      choices: mark === undefined || kind ? null : new Set(value.split('|')),
    })
  }
  return flags
}
