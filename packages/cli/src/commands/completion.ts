/** Shell completion: a small script per shell, which asks this program what may come next. */
import { actionLabel, httpCall, summary } from '@holdpoint/client'
import { type Ask, type Call, Fault } from '@holdpoint/protocol'
import { dataFolderAt } from '../config/data-folder.ts'
import { findGateway, type GatewayAddress } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { untrustedLine } from '../output/span.ts'
import { cut } from '../output/width.ts'
import { liveSessions, pendingRequests } from './lists.ts'

/** The command line as it is described in one place, without the library that describes it. */
export interface CommandShape {
  readonly name: string
  readonly description: string
  readonly options: readonly OptionShape[]
  /** The names of its arguments, which say what completes them. */
  readonly arguments: readonly string[]
}

interface OptionShape {
  readonly flag: string
  readonly takesValue: boolean
  readonly description: string
  /** Empty where any value may be given. */
  readonly choices: readonly string[]
}

const scripts: Readonly<Record<string, string>> = {
  bash: `_holdpoint() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(holdpoint complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _holdpoint holdpoint`,
  zsh: `#compdef holdpoint
_holdpoint() {
  local -a found
  local line about
  while IFS= read -r line; do
    about=\${line#*$'\\t'}
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}\${about:+:$about}")
  done < <(holdpoint complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe holdpoint found || _files
}
compdef _holdpoint holdpoint`,
  fish: `function __holdpoint_complete
  set -l found (holdpoint complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c holdpoint -f -a '(__holdpoint_complete)'`,
}
export const shells = Object.keys(scripts)

export function completionScript(shell: string): string {
  const script = scripts[shell]
  if (script === undefined)
    throw new Fault('bad_input', `There is completion for ${shells.join(', ')}; not for "${shell}"`)
  return script
}

interface Candidate {
  readonly word: string
  readonly description: string
}
/** Room for what we say of a command; what an agent asks is cut. */
const descriptionColumns = 90

/** What may stand in the place of the last of these words. */
export async function complete(
  words: readonly string[],
  commands: readonly CommandShape[],
  place: GatewayAddress,
): Promise<void> {
  const typed = words.at(-1) ?? ''
  const candidates = await candidatesFor(words, commands, place)
  out.printPairs(
    candidates
      .filter(({ word }) => word.startsWith(typed))
      .map(
        ({ word, description }) =>
          [untrustedLine(word), untrustedLine(description).shortened(text => cut(text, descriptionColumns))] as const,
      ),
  )
}

async function candidatesFor(
  words: readonly string[],
  commands: readonly CommandShape[],
  place: GatewayAddress,
): Promise<readonly Candidate[]> {
  const [name = ''] = words
  const typed = words.at(-1) ?? ''
  if (words.length <= 1 || (name === 'help' && words.length === 2))
    return commands.map(command => ({ word: command.name, description: command.description }))
  const command = commands.find(known => known.name === name)
  if (!command) return []
  if (typed.startsWith('-'))
    return command.options.map(({ flag, description }) => ({ word: flag, description: description }))
  const before = words.slice(1, -1)
  const last = command.options.find(({ flag }) => flag === before.at(-1))
  const given = before.filter(
    (word, at) =>
      !word.startsWith('-') && !command.options.some(({ flag, takesValue }) => takesValue && flag === before[at - 1]),
  )
  if (last && last.choices.length > 0) return toCandidates(last.choices)
  const kind = last?.takesValue ? last.flag.slice('--'.length) : command.arguments[given.length]
  if (kind === 'shell') return toCandidates(shells)
  return kind && isGatewayValue(kind) ? fetchCandidates(kind, name, given, place).catch(() => []) : []
}

function toCandidates(words: readonly string[]): readonly Candidate[] {
  return words.map(word => ({ word, description: '' }))
}

/** What only the gateway knows, by the names of arguments and options. */
const gatewayValues = ['request', 'session', 'driver', 'mode'] as const
type GatewayValue = (typeof gatewayValues)[number]
function isGatewayValue(kind: string): kind is GatewayValue {
  return gatewayValues.some(known => known === kind)
}

/** Whoever waits for a completion waits for a keystroke: one try, and not for long. */
const timeoutMs = 1500
/** What can be answered by a command. */
const askKindsByCommand: Readonly<Record<string, readonly Ask['kind'][]>> = {
  allow: ['approval'],
  answer: ['questions', 'form'],
}

async function fetchCandidates(
  kind: GatewayValue,
  command: string,
  given: readonly string[],
  { home, url }: GatewayAddress,
): Promise<readonly Candidate[]> {
  const remote = findGateway(dataFolderAt(home), url)
  if (!remote) return []
  const once = httpCall({ ...remote.connection, attempts: 1 })
  const signal = AbortSignal.timeout(timeoutMs)
  const call: Call = (op, input) => once(op, input, { signal })
  if (kind === 'driver')
    return (await call('listDrivers', {})).items.map(({ name, title }) => ({ word: name, description: title }))
  if (kind === 'mode') return toCandidates(await modesFor(call, given))
  if (kind === 'session') return (await liveSessions(call)).map(({ id, title }) => ({ word: id, description: title }))
  const wanted = askKindsByCommand[command]
  return (await pendingRequests(call))
    .filter(({ ask }) => wanted === undefined || wanted.includes(ask.kind))
    .map(({ id, ask }) => ({ word: id, description: `${actionLabel(ask)}: ${summary(ask)}` }))
}

/** Of the driver that is named, or of the session's; of all where neither is known yet. */
async function modesFor(call: Call, given: readonly string[]): Promise<readonly string[]> {
  const { items } = await call('listDrivers', {})
  const sessions = await liveSessions(call)
  const named = given.map(word => sessions.find(({ id }) => id === word)?.driver ?? word)
  const meant = items.filter(({ name }) => named.includes(name))
  return [...new Set((meant.length > 0 ? meant : items).flatMap(({ modes }) => modes))]
}
