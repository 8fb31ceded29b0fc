/** Derives what an action touches and how dangerous it can be, from the action alone. An agent's own words about it do not count. */
import type { Action, Risk } from '@holdpoint/protocol'
import { checkPath } from './files/check-path.ts'
import { withLimitedLookup } from './files/limited-lookup.ts'
import { isSecretPath } from './files/path-names.ts'
import { joinPath, searchedMax, searchedPaths } from './paths.ts'
import { checkArguments } from './programs/check-arguments.ts'
import { addCommandTouches, addWrite } from './risk/command-touches.ts'
import { runsComputedCode } from './risk/computed-code.ts'
import { isHarmless } from './risk/harmless-commands.ts'
import { RiskFindings } from './risk/risk-findings.ts'
import { RiskWork, TooMuchWork } from './risk/risk-work.ts'
import { type ReadCommand, readShell } from './risk/shell-reading.ts'
import { literalCommands } from './shell/literal-commands.ts'
import type { CallSite } from './site.ts'

/**
 * Low: it is proven that the action only reads inside the folder, or only writes ordinary files there. Dangerous: it
 * deletes much, leaves the folder, or cannot be undone. Everything else is notable.
 */
export function riskOf(action: Action, site: CallSite): Risk {
  return withLimitedLookup(site.files, files => riskAt(action, { ...site, files }), tooManyFiles)
}
/** The risk of a call that names too many files to look at each of them. */
const tooManyFiles: Risk = { level: 'dangerous', touches: ['unreadable'] }

function riskAt(action: Action, site: CallSite): Risk {
  const findings = new RiskFindings()
  if ('shell' in action) addWithinLimits(action.shell, { ...site, cwd: action.cwd || site.cwd }, findings)
  else if ('write' in action) addPaths(action.write, findings, path => addWrite(path, site, findings))
  else if ('read' in action) addPaths(action.read, findings, path => addRead(path, site, findings))
  else if ('fetch' in action) findings.add('network')
  else findings.add('unreadable')
  return findings.risk
}

function addPaths(paths: readonly string[], findings: RiskFindings, add: (path: string) => void): void {
  const searched = searchedPaths(paths)
  if (searched.length < paths.length) findings.add('unreadable', 'dangerous')
  for (const path of searched) add(path)
}

function addRead(path: string, site: CallSite, findings: RiskFindings): void {
  const found = checkPath(path, site, 'read')
  if (found.ok) return
  if (found.problem === 'secret' || isSecretPath(joinPath(site.cwd, path))) findings.add('secrets', 'dangerous')
  else findings.raise('notable')
}

/** Adds what the command touches. If this would take too much work, keeps what was found so far, and adds that the command is unreadable. */
function addWithinLimits(text: string, site: CallSite, findings: RiskFindings): void {
  try {
    addShell(text, site, findings, new RiskWork())
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error
    findings.add('unreadable', 'dangerous')
  }
}

/** How much work a word of a command counts as. The word can name a file, and checking the file takes longer than reading the word. */
const wordUnits = 6
/** How much work a redirection counts as. Its file is always checked. */
const redirectUnits = 50

function addShell(whole: string, site: CallSite, findings: RiskFindings, work: RiskWork): void {
  if (whole.length > searchedMax) findings.add('unreadable', 'dangerous')
  const text = whole.slice(0, searchedMax)
  const { commands, isComplete, isCutShort } = literalCommands(text)
  const direct = isCutShort ? null : readShell(text, site.cwd)
  /** The commands whose words and folder are certain; the loop over the literal commands below skips them. */
  const known = new Set<string>()
  if (direct === null) findings.add('unreadable')
  for (const command of withoutRepeated(direct ?? [])) {
    const redirects = command.targets.length + command.sources.length
    work.spend(command.folders.length * (command.argv.length * wordUnits + redirects * redirectUnits))
    for (const target of command.targets)
      for (const folder of command.folders) addWrite(target, { ...site, cwd: folder }, findings)
    for (const source of command.sources)
      for (const folder of command.folders) addRead(source, { ...site, cwd: folder }, findings)
    const isHarmless = isHarmlessCommand(command, site)
    if (!isHarmless) addDirect(command, site, findings, work)
    if (isHarmless || command.folders.includes(site.cwd)) known.add(keyOf(command.argv))
  }
  // Also look at commands that wrappers run, and at commands in texts that a shell would run.
  for (const { argv } of commands) if (!known.has(keyOf(argv))) addWrapped(argv, site, findings, work)
  if (!isComplete) findings.add('unreadable', isCutShort ? 'dangerous' : 'notable')
  if (runsComputedCode(text.slice(0, parsedMax))) findings.add('unreadable', 'dangerous')
  if (direct === null) addRedirects(text, site, findings)
}

/** The same command in the same folder has the same risk, however often it occurs in the text. */
function withoutRepeated(commands: readonly ReadCommand[]): readonly ReadCommand[] {
  // Commands of different programs differ, so most texts need no comparison of whole commands.
  if (new Set(commands.map(({ argv }) => argv[0])).size === commands.length) return commands
  const known = new Set<string>()
  return commands.filter(({ argv, folders, targets, sources }) => {
    const key = JSON.stringify([argv, folders, targets, sources])
    return known.size < known.add(key).size
  })
}

function keyOf(argv: readonly string[]): string {
  return argv.join('\0')
}

function isHarmlessCommand({ argv, folders }: ReadCommand, site: CallSite): boolean {
  return folders.every(folder => isHarmless(argv, { ...site, cwd: folder }))
}

/** Adds the touches of a command whose words are certain and that is not proven harmless. */
function addDirect({ argv, folders }: ReadCommand, site: CallSite, findings: RiskFindings, work: RiskWork): void {
  findings.raise('notable')
  for (const folder of folders) {
    const at = { ...site, cwd: folder }
    const check = checkArguments(argv, at)
    if (check.ok) findings.add('project-code')
    if (!addCommandTouches(argv, at, findings, work) && !check.ok) findings.add('unreadable')
  }
}

/** Adds the touches of a command that a wrapper may run. Such a command may begin with a word that is not a program, so an unknown name adds nothing. */
function addWrapped(argv: readonly string[], site: CallSite, findings: RiskFindings, work: RiskWork): void {
  const found = new RiskFindings()
  const isKnown = addCommandTouches(argv, site, found, work)
  if (!isKnown || argv.length === 0) return
  const { level, touches } = found.risk
  for (const touch of touches) findings.add(touch, level === 'dangerous' ? 'dangerous' : 'notable')
}

/** Longer texts count as unreadable anyway. */
const parsedMax = 65_536
const redirectsMax = 200

/** For a text that the parser cannot read, adds the files to which it redirects, as far as they can be recognized. */
function addRedirects(text: string, site: CallSite, findings: RiskFindings): void {
  let left = redirectsMax
  for (const [, target = ''] of text
    .slice(0, parsedMax)
    .matchAll(/(?:^|[^<>-])(?:&?>>?\|?|>&)\s*("[^"\n]*"|'[^'\n]*'|[^\s;&|<>()]+)/g)) {
    if (left-- === 0) return
    const path = target.replace(/^["']|["']$/g, '')
    if (!/^(?:\d|-|&\d|\(|=)/.test(path)) addWrite(path, site, findings)
  }
}
