/** The grammar of `find`: only tests and actions that print names. Actions that run a program, delete or write a file are not on the list. */
import { checkPath, quote } from '../files/check-path.ts'
import type { CallSite } from '../site.ts'
import { looksLikeOption } from './argument-parser.ts'
import type { ValueKind } from './grammar.ts'
import { type ArgumentCheck, type Program, refuse } from './grammar-check.ts'

/** The kind of value that follows a word of the expression; `none` if no value follows. */
const words: ReadonlyMap<string, ValueKind> = new Map<string, ValueKind>([
  ...each(
    'none',
    '-a -and -o -or -not ! , ( ) -print -print0 -prune -quit -true -false -empty -depth -daystart -noleaf',
  ),
  ...each('none', '-mount -xdev -readable -writable -executable -nouser -nogroup -warn -nowarn -ls'),
  ...each('text', '-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -perm'),
  ...each('text', '-size -regextype -user -group -newermt -printf -fstype'),
  ...each('number', '-maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -links -inum -uid -gid'),
  ...each('listed', '-newer -anewer -cnewer -samefile'),
])

/** Values that look like options: `-size -10k`, `-perm -644` and `-perm -u+x`. */
const lessThan = /^-(?:\d|[ugoa]*[=+])/

function each(kind: ValueKind, names: string): [string, ValueKind][] {
  return names.split(' ').map(name => [name, kind])
}

/** Options before the first path. -L and -H, which follow links, are not among them. */
const leadingOptions: ReadonlySet<string> = new Set(['-P', '-O1', '-O2', '-O3', '-E', '-X', '-x'])

export const find: Program = {
  check(args, site) {
    let at = 0
    while (leadingOptions.has(args[at] ?? '')) at++
    const starts: string[] = []
    // As in find itself, the expression begins at the first word that cannot be a path.
    for (; at < args.length && !/^[-(),!]/.test(args[at] as string); at++) starts.push(args[at] as string)
    const paths: string[] = []
    for (const start of starts.length === 0 ? ['.'] : starts) {
      const found = checkPath(start, site, 'list')
      if (!found.ok) return refuse(found.reason)
      paths.push(found.path)
    }
    return checkExpression(args.slice(at), site, paths)
  },
}

function checkExpression(args: readonly string[], site: CallSite, paths: string[]): ArgumentCheck {
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    const kind = words.get(word)
    if (kind === undefined) return refuse(`The option ${quote(word)} is not on the list of harmless options.`)
    if (kind === 'none') continue
    const value = args[++at]
    if (value === undefined) return refuse(`The value of ${word} is missing.`)
    if (kind === 'number' && !/^[+-]?\d{1,9}$/.test(value)) return refuse(`${quote(value)} is not a number.`)
    if (kind === 'text' && looksLikeOption(value) && !lessThan.test(value))
      return refuse(`${quote(value)} looks like an option, not like the value of ${word}.`)
    if (kind !== 'listed') continue
    const found = checkPath(value, site, 'list')
    if (!found.ok) return refuse(found.reason)
    paths.push(found.path)
  }
  return { ok: true, group: 'only-reads', paths }
}
