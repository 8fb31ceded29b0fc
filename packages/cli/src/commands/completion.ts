/** Shell completion: prints the script for a shell. The script calls the hidden command `complete` to get the candidates. */
import { actionLabel, httpCall, labelText, summaryText } from '@holdpoint/client'
import { type Ask, type Call, Fault } from '@holdpoint/protocol'
import { dataFolderAt } from '../config/data-folder.ts'
import { findGateway, type GatewayAddress } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { trusted, untrustedCode } from '../output/span.ts'
import { cut } from '../output/width.ts'
import { liveSessions, pendingRequests } from './queries.ts'
import { inputTexts } from './texts.ts'
import { tokenTexts } from './token-texts.ts'

/** The parts of a command that completion needs. */
export interface CommandShape {
  readonly name: string
  readonly description: string
  readonly options: readonly OptionShape[]
  /** The names of the arguments (`session`, `request`, …). The name of an argument determines which values complete it. */
  readonly arguments: readonly string[]
  /** Whether the last argument can be repeated. */
  readonly isVariadic: boolean
  readonly subcommands: readonly CommandShape[]
}

interface OptionShape {
  readonly flag: string
  readonly takesValue: boolean
  readonly description: string
  /** The values that the option accepts, or empty if it accepts any value. */
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
  if (script === undefined) throw new Fault('bad_input', inputTexts.unknownShell(shell, shells))
  return script
}

interface Candidate {
  readonly word: string
  /** The description of the word, escaped for display. */
  readonly description: string
}
/** Longer descriptions are cut. Our own descriptions fit, but summaries of requests may not. */
const descriptionColumns = 90

/** Prints the completion candidates for the last word. */
export async function complete(
  words: readonly string[],
  commands: readonly CommandShape[],
  address: GatewayAddress,
): Promise<void> {
  const typed = words.at(-1) ?? ''
  const candidates = await candidatesFor(words, commands, address)
  out.printPairs(
    candidates
      .filter(({ word }) => word.startsWith(typed))
      .map(
        ({ word, description }) =>
          [untrustedCode(word), trusted(description).shortened(text => cut(text, descriptionColumns))] as const,
      ),
  )
}

async function candidatesFor(
  words: readonly string[],
  commands: readonly CommandShape[],
  address: GatewayAddress,
): Promise<readonly Candidate[]> {
  const [name = ''] = words
  const typed = words.at(-1) ?? ''
  if (words.length <= 1 || (name === 'help' && words.length === 2))
    return commands.map(command => ({ word: command.name, description: command.description }))
  const command = commands.find(known => known.name === name)
  if (!command) return []
  if (command.subcommands.length > 0) return candidatesFor(words.slice(1), command.subcommands, address)
  if (typed.startsWith('-'))
    return command.options.map(({ flag, description }) => ({ word: flag, description: description }))
  const before = words.slice(1, -1)
  const previousOption = command.options.find(({ flag }) => flag === before.at(-1))
  const given = before.filter(
    (word, index) =>
      !word.startsWith('-') &&
      !command.options.some(({ flag, takesValue }) => takesValue && flag === before[index - 1]),
  )
  if (previousOption && previousOption.choices.length > 0) return toCandidates(previousOption.choices)
  const last = command.isVariadic ? command.arguments.at(-1) : undefined
  const argument = command.arguments[given.length] ?? last
  const kind = previousOption?.takesValue ? previousOption.flag.slice('--'.length) : argument
  if (kind === 'shell') return toCandidates(shells)
  return kind && isGatewayValue(kind) ? fetchCandidates(kind, name, given, address).catch(() => []) : []
}

function toCandidates(words: readonly string[]): readonly Candidate[] {
  return words.map(word => ({ word, description: '' }))
}

/** Names of arguments and options whose values come from the gateway. */
const gatewayValues = ['request', 'session', 'driver', 'mode', 'token'] as const
type GatewayValue = (typeof gatewayValues)[number]
function isGatewayValue(kind: string): kind is GatewayValue {
  return gatewayValues.some(known => known === kind)
}

/** The timeout is short and there is only one attempt, because the person has pressed Tab and is waiting. */
const timeoutMs = 1500
/** The kinds of request that a command can answer. Commands that are not listed here accept any kind. */
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
  const gateway = findGateway(dataFolderAt(home), url)
  if (!gateway) return []
  const callOnce = httpCall({ ...gateway.connection, attempts: 1 })
  const signal = AbortSignal.timeout(timeoutMs)
  const call: Call = (op, input) => callOnce(op, input, { signal })
  if (kind === 'driver')
    return (await call('listDrivers', {})).items.map(({ name, title }) => ({
      word: name,
      description: labelText(title),
    }))
  if (kind === 'token')
    return (await call('listTokens', {})).items.map(token => ({
      word: token.id,
      description: `${tokenTexts.role(token)}: ${labelText(token.name)}`,
    }))
  if (kind === 'mode') return toCandidates(await modesFor(call, given))
  if (kind === 'session')
    return (await liveSessions(call)).map(({ id, title }) => ({ word: id, description: labelText(title) }))
  const kinds = askKindsByCommand[command]
  return (await pendingRequests(call))
    .filter(({ id, ask }) => !given.includes(id) && (kinds === undefined || kinds.includes(ask.kind)))
    .map(({ id, ask }) => ({ word: id, description: `${actionLabel(ask)}: ${summaryText(ask)}` }))
}

/** Returns the modes of the driver or session that was typed, or the modes of all drivers if neither was typed yet. */
async function modesFor(call: Call, given: readonly string[]): Promise<readonly string[]> {
  const { items } = await call('listDrivers', {})
  const sessions = await liveSessions(call)
  const drivers = given.map(word => sessions.find(({ id }) => id === word)?.driver ?? word)
  const matching = items.filter(({ name }) => drivers.includes(name))
  return [...new Set((matching.length > 0 ? matching : items).flatMap(({ modes }) => modes))]
}
