/** Finds out what one command touches. In doubt it warns: a needless warning is better than a missing one. */
import { checkPath } from '../files/check-path.ts'
import { isProtectedPath, isSecretPath } from '../files/path-names.ts'
import { isInside, joinPath } from '../paths.ts'
import { programName } from '../shell/wrapper-programs.ts'
import type { CallSite } from '../site.ts'
import { commandTable, hasOption, tableLines } from './command-table.ts'
import type { RiskFindings } from './risk-findings.ts'
import type { RiskWork } from './risk-work.ts'

/** Adds what a command touches. Returns false if nothing is known about the program. */
export function addCommandTouches(
  argv: readonly string[],
  site: CallSite,
  findings: RiskFindings,
  work: RiskWork,
): boolean {
  work.spend(argv.length)
  const name = programName(argv[0] ?? '')
  const args = argv.slice(1)
  const isScript = /^(?:\.{0,2}\/|~\/)|\.(?:sh|py|js|mjs|cjs|ts|rb|pl|php|bash|ps1|bat|cmd)$/.test(argv[0] ?? '')
  if (isScript) findings.add('project-code')
  const lines = tableLines(name, args)
  for (const { touches } of lines) for (const { touch, level } of touches) findings.add(touch, level)
  addDeletes(name, args, site, findings)
  addOverwrites(name, args, site, findings)
  addWrites(name, args, site, findings)
  addSecrets(args, site, findings, work)
  addCode(name, args, findings)
  addPublishingScript(name, args, findings)
  addPushedRefs(name, args, findings)
  if (/^mkfs\./.test(name)) findings.add('privileges', 'dangerous')
  return isScript || lines.length > 0 || commandTable.has(name)
}

/** Adds what writing to a file touches. */
export function addWrite(path: string, site: CallSite, findings: RiskFindings): void {
  if (/^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/.test(path)) return
  if (/^\/dev\//.test(path)) {
    findings.add('privileges', 'dangerous')
    return
  }
  const expanded = expandHome(path, site)
  const written = joinPath(site.cwd, expanded)
  if (isSecretPath(written)) findings.add('secrets', 'dangerous')
  if (/[$`*?]/.test(expanded) && !expanded.startsWith('/')) {
    findings.add('unreadable')
    return
  }
  const found = checkPath(expanded, site, 'write')
  if (found.ok) return
  const real = found.path || written
  if (found.problem === 'secret') findings.add('secrets', 'dangerous')
  if (!isInside(real, site.folder)) findings.add('writes-outside', isTemporary(real) ? 'notable' : 'dangerous')
  const protectedPath = isInside(real, site.folder) ? real.slice(site.folder.length + 1) : real
  if (isProtectedPath(protectedPath))
    findings.add('settings', decidesWhatRuns.test(protectedPath) ? 'dangerous' : 'notable')
  if (found.problem === 'unclear') findings.add('unreadable')
}

/** Settings that decide what runs or is allowed without a question. */
const decidesWhatRuns =
  /(?:^|\/)(?:\.git|\.claude|\.codex|\.opencode|\.gemini|\.cursor|\.husky|\.githooks|\.holdpoint)(?:\/|$)|(?:^|\/)(?:holdpoint\.(?:config|rules)\.json|\.mcp\.json|\.(?:bash|zsh|z)\w*|\.profile|\.gitconfig|\.envrc|authorized_keys)$/i

function isTemporary(path: string): boolean {
  return /^(?:\/private)?\/(?:var\/)?tmp\/.|^\/(?:private\/)?var\/folders\//.test(path)
}

function expandHome(path: string, { home }: CallSite): string {
  if (path[0] !== '~' && path[0] !== '$') return path
  return path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home)
}

const deleters: ReadonlySet<string> = new Set([
  'rm',
  'rmdir',
  'unlink',
  'shred',
  'srm',
  'trash',
  'trash-put',
  'rimraf',
  'del',
  'erase',
])

/** Deleting outside the folder, or files that are not named, is dangerous. */
function addDeletes(name: string, args: readonly string[], site: CallSite, findings: RiskFindings): void {
  const isFind =
    name === 'find' &&
    args.some(arg => /^-(?:exec|execdir|ok|okdir)$/.test(arg)) &&
    args.some(arg => deleters.has(programName(arg)))
  if (isFind) findings.add('deletes', 'dangerous')
  if (!deleters.has(name)) return
  const operands = args.filter(arg => !arg.startsWith('-'))
  if (operands.length === 0) findings.add('deletes', 'dangerous')
  for (const operand of operands) {
    const found = checkPath(expandHome(operand, site), site, 'write')
    if (found.ok) continue
    if (found.problem === 'secret') findings.add('secrets', 'dangerous')
    // A pattern such as *.log deletes files only in its own folder.
    const isLocalPattern = /^[\w./*?-]+$/.test(operand) && !operand.includes('..') && !operand.startsWith('/')
    if (found.problem !== 'unclear' || !isLocalPattern) findings.add('deletes', 'dangerous')
  }
}

/** Moving a file onto another file deletes the other file. */
function addOverwrites(name: string, args: readonly string[], site: CallSite, findings: RiskFindings): void {
  const target = args.filter(arg => !arg.startsWith('-')).at(-1)
  if (name !== 'mv' || target === undefined) return
  const found = checkPath(target, site, 'list')
  const isThere = found.ok && (site.files?.realPath(found.path) ?? null) !== null
  if (isThere && (site.files?.list?.(found.path) ?? null) === null) findings.add('deletes')
}

/** Programs that write files that they are given, with the position of these files among the operands. */
const writers: Readonly<Record<string, 'all' | 'last' | 'first'>> = {
  touch: 'all',
  mkdir: 'all',
  tee: 'all',
  truncate: 'all',
  mkfifo: 'all',
  cp: 'last',
  mv: 'all',
  ln: 'last',
  install: 'last',
  rsync: 'last',
  chmod: 'all',
  chown: 'all',
  chgrp: 'all',
  sponge: 'all',
  patch: 'first',
  scp: 'last',
  dos2unix: 'all',
}
/** Options whose value is a file that is written. */
const outputOption =
  /^(?:-o|-O|--output|--out|--outfile|--output-file|--output-document|--outdir|--out-dir|--target-dir|--directory-prefix|-P|-C|-d|--directory|--prefix|of)$/

function addWrites(name: string, args: readonly string[], site: CallSite, findings: RiskFindings): void {
  const operands = args.filter(arg => !arg.startsWith('-'))
  const which = Object.hasOwn(writers, name) ? writers[name] : undefined
  const isEdit =
    /^(?:sed|perl|ruby|gsed|yq|gofmt|prettier|eslint)$/.test(name) &&
    args.some(arg => /^-[a-zA-Z]*[iw]/.test(arg) || /^--(?:in-place|write|fix)/.test(arg))
  const written =
    which === 'last'
      ? operands.slice(-1)
      : which === 'first'
        ? operands.slice(0, 1)
        : which === 'all' || isEdit
          ? operands
          : []
  const modes = /^(?:chmod|chown|chgrp)$/.test(name) ? written.slice(1) : written
  for (const path of modes) if (!/^[\w.@-]+:/.test(path)) addWrite(path, site, findings)
  for (const [index, arg] of args.entries()) {
    const [option = '', value] = arg.split(/=(.*)/s)
    if (outputOption.test(option) && writesOutput.has(name)) addWrite(value ?? args[index + 1] ?? '', site, findings)
  }
  const archive = /^(?:tar|bsdtar|gtar)$/.test(name) ? args.findIndex(arg => /^-?[a-zA-Z]*f$|^--file$/.test(arg)) : -1
  if (archive >= 0 && args.some(arg => /^-?[a-zA-Z]*[cru]|^--(?:create|append|update)/.test(arg)))
    addWrite(args[archive + 1] ?? '', site, findings)
  if (name === 'git' && operands[0] === 'worktree' && operands[1] === 'add') addWrite(operands[2] ?? '', site, findings)
  if (name === 'chmod' && args.some(arg => /^(?:[0-7]?[2467][0-7]{3}|[ugoa]*\+[rwx]*s|0?777|[ao]*\+[rx]*w)$/.test(arg)))
    findings.add('privileges', 'dangerous')
}
const writesOutput: ReadonlySet<string> = new Set(
  'curl wget sort tree go gcc g++ clang cc rustc tar unzip zip 7z dd pandoc ffmpeg openssl tsc esbuild rollup webpack cargo aria2c yt-dlp gpg age patch ld install'.split(
    ' ',
  ),
)

/** Adds `secrets` if an argument is the path of a secret, also after `=` and `@`. */
function addSecrets(args: readonly string[], site: CallSite, findings: RiskFindings, work: RiskWork): void {
  for (const arg of args) {
    const parts = /[=@,:]/.test(arg) ? [...new Set([arg, ...arg.split(/[=@,:]/).slice(1)])] : [arg]
    work.spend(parts.length - 1)
    for (const part of parts) {
      if (part === '' || part.length > 1000 || /\s/.test(part)) continue
      const path = joinPath(site.cwd, expandHome(part, site))
      if (work.isSecret(path, isSecretPath) && isNamed(part, path, site)) findings.add('secrets', 'dangerous')
    }
  }
}

/** A plain word such as `token` names a file only if there is one. */
function isNamed(word: string, path: string, { files }: CallSite): boolean {
  return /[./~]/.test(word) || (files?.realPath(path) ?? null) !== null
}

const codePatterns: readonly (readonly [RegExp, Parameters<RiskFindings['add']>])[] = [
  [
    /rmtree|os\.remove|os\.unlink|\.unlink\(|rmSync|unlinkSync|fs\.rm|fs\.unlink|FileUtils\.rm|removedirs|rimraf|File\.delete|\brmdir/,
    ['deletes', 'dangerous'],
  ],
  [/\b(?:drop|truncate)\s+(?:table|database|schema)|\bdelete\s+from\b/i, ['deletes', 'dangerous']],
  [
    /https?:\/\/|\brequests\.|urllib|httpx|aiohttp|fetch\(|axios|http\.(?:get|request|client)|socket\.|net\.connect|XMLHttpRequest|LWP::|Net::HTTP/,
    ['network', 'notable'],
  ],
  [/os\.environ|process\.env|getenv|ENV\[/, ['secrets', 'notable']],
]
const runsCode =
  /^(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|bash|sh|zsh|fish|dash|ksh|osascript|rscript|r|julia|swift|awk|gawk|sqlite3|psql|mysql|mongosh|tsx|ts-node|irb|ghci|groovy|powershell|pwsh)[\d.]*$/

/** Adds what code in the arguments of an interpreter or a database touches, as far as patterns can recognize it. */
function addCode(name: string, args: readonly string[], findings: RiskFindings): void {
  if (!runsCode.test(name)) return
  const code = args.join('\n')
  for (const [pattern, finding] of codePatterns) if (pattern.test(code)) findings.add(...finding)
}

/** Adds `publishes` for a script or target whose name says that it publishes. */
function addPublishingScript(name: string, args: readonly string[], findings: RiskFindings): void {
  if (!/^(?:npm|pnpm|yarn|bun|make|gmake|just|task|rake|nx|turbo|gradle|gradlew|mvn)$/.test(name)) return
  const words = args.filter(arg => !arg.startsWith('-')).slice(0, 3)
  if (
    words.some(word =>
      /(?:^|[:._-])(?:deploy|deployment|publish|release|ship|upload|promote|rollback)(?:[:._-]|$)/i.test(word),
    )
  )
    findings.add('publishes', 'dangerous')
  if (hasOption(args, '--prod') || hasOption(args, '--production')) findings.add('publishes')
}

/** `git push origin +main` replaces a branch, and `git push origin :main` deletes it. */
function addPushedRefs(name: string, args: readonly string[], findings: RiskFindings): void {
  if (name !== 'git' || !args.includes('push')) return
  if (args.some(arg => arg.startsWith('+'))) findings.add('rewrites-history', 'dangerous')
  if (args.some(arg => /^\+?:./.test(arg))) findings.add('deletes', 'dangerous')
}
