/** Checks that a rule can be used: it names one thing, an allow rule is narrow, and its limits make sense. */
import { Fault, type RuleDraft } from '@holdpoint/protocol'
import { normalHost } from './hosts.ts'
import { hasGrammar } from './programs/check-arguments.ts'
import { restrictedWords } from './restricting-rules.ts'
import { parseCommand } from './shell/parse-command.ts'
import { isInterpreter, programName, shellNames } from './shell/wrapper-programs.ts'

/** Throws a Fault if the rule cannot be used. */
export function validateRule(draft: RuleDraft): RuleDraft {
  const problem = ruleProblem(draft)
  if (problem) throw new Fault('unsupported', problem)
  return draft
}

/** Returns why a rule cannot be used, in one or two sentences, or null. */
export function ruleProblem(draft: RuleDraft): string | null {
  return limitProblem(draft) ?? targetProblem(draft) ?? broadAllowProblem(draft)
}

function limitProblem({ effect, when, until, scope, message, usesLeft }: RuleDraft): string | null {
  if (when !== undefined) return 'Rules with "when" are not supported yet. Leave out "when".'
  if (scope?.cwd !== undefined && !isAbsolute(scope.cwd))
    return `scope.cwd must be the absolute path of a folder, not ${JSON.stringify(scope.cwd)}.`
  if (until !== undefined && scope?.session === undefined)
    return `A rule that ends with a ${until} must name the session in scope.session.`
  if (message !== undefined && effect !== 'deny')
    return 'Only a rule that denies has a message for the agent. Use "note" for people.'
  if (usesLeft !== undefined && effect !== 'allow')
    return 'Only an allow rule can have a number of uses. Use "expiresAt" to end other rules.'
  return null
}

/** The fields that say what a rule matches. */
const targets = ['command', 'group', 'path', 'host', 'mcp'] as const

function targetProblem(draft: RuleDraft): string | null {
  const named = targets.filter(target => draft[target] !== undefined)
  if (named.length > 1) return `A rule matches one thing. Use only one of ${named.join(', ')}.`
  const { effect, group, args, command, path, scope, host } = draft
  if (group !== undefined && effect !== 'allow') return 'Only an allow rule can name a group of commands.'
  if (args === 'grammar' && effect !== 'allow') return 'args "grammar" is only for allow rules.'
  if (effect !== 'allow' && command !== undefined && restrictedWords(command)[0] === '')
    return `${JSON.stringify(command)} names no program, so the rule would never match.`
  if (args !== undefined && command === undefined) return 'A rule with "args" needs a command.'
  if (path !== undefined && !isAbsolute(path) && scope?.cwd === undefined)
    return 'A relative path needs scope.cwd, the folder that it starts from.'
  if (path?.includes('\0')) return 'A path cannot contain a NUL character.'
  if (host !== undefined && normalHost(host) === '')
    return `${JSON.stringify(host)} is not the name of a host. Write it without a protocol, a port and a path.`
  return null
}

/** Returns why an allow rule is too broad, or null if it is not. A broad allow rule would allow calls that no person has seen; deny and ask rules may be broad. */
export function broadAllowProblem(draft: RuleDraft): string | null {
  const { effect, command, group, path, host, mcp, action, scope } = draft
  if (effect !== 'allow') return null
  if (command !== undefined) {
    const words = allowedWords(draft, command)
    return typeof words === 'string' ? words : null
  }
  if (group !== undefined)
    return scope?.cwd === undefined ? 'Turn on a group of commands for one folder: add scope.cwd.' : null
  if (path !== undefined)
    return action === undefined || action === 'read' || action === 'write'
      ? null
      : 'An allow rule with a path is for reading or writing: set "action" to "read" or "write".'
  if (host !== undefined) return null
  if (mcp !== undefined) return mcp.tool === undefined ? 'An allow rule for an MCP server must name one tool.' : null
  return `An allow rule for every use of ${draft.tool ?? 'every tool'} is too broad. Name a command, a path, a host or an MCP tool.`
}

/** Returns the words of an allow rule's command, or why it cannot be allowed. */
export function allowedWords({ args, scope }: RuleDraft, command: string): readonly string[] | string {
  const isScoped = (scope?.cwd !== undefined && isAbsolute(scope.cwd)) || scope?.session !== undefined
  if (!isScoped)
    return 'The same command can mean something else in another folder. Add scope.cwd or scope.session to the allow rule.'
  const parsed = parseCommand(command)
  if (!parsed.provable)
    return `Holdpoint cannot prove what this command does, so it cannot be allowed. ${parsed.reason}`
  const [segment, ...others] = parsed.segments
  if (!segment || others.length > 0) return 'An allow rule is for one command. Add a rule for each part.'
  if (segment.redirects.length > 0) return 'Write the command without redirects.'
  const [program = '', ...rest] = segment.argv
  if (program === 'cd') return 'A rule for cd has no effect. Holdpoint follows cd by itself.'
  // With args "grammar", the program must still have arguments that are known.
  if (args !== 'grammar' && rest.length === 0 && runsInput(program))
    return `${program} without arguments runs whatever it reads, so it cannot be allowed.`
  if (args === 'grammar' && !hasGrammar(segment.argv))
    return `Holdpoint does not know the arguments of ${segment.argv.join(' ')}. Use args "exact".`
  return segment.argv
}

function runsInput(program: string): boolean {
  const name = programName(program)
  return shellNames.has(name) || isInterpreter(name)
}

/** Returns whether this is an absolute path on a POSIX system or on Windows. A relative path could mean any folder. */
function isAbsolute(path: string): boolean {
  return /^(\/|\\\\|[a-z]:[\\/])/i.test(path)
}
