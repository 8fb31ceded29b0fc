/** The schema of the settings, and the list of settings that a config file may set only after a person has trusted the file. docs/configuration.md describes all settings. */
import { Fault, limits } from '@holdpoint/protocol'
import { z } from 'zod'

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z.int(error).min(min, error).max(max, error)
}
function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`)
}
const nonEmpty = z.string('must be text').min(1, 'must not be empty')
const portMax = 65_535
/** Accepts strings too, because flags and environment variables are strings. */
const port = z
  .union([z.number(), z.string().regex(/^\d+$/).transform(Number)], `must be a whole number from 0 to ${portMax}`)
  .pipe(wholeNumber(0, portMax))
const yesOrNo = z.union(
  [z.boolean(), z.enum(['true', 'false', '1', '0']).transform(word => word === 'true' || word === '1')],
  'must be true or false',
)

/** The settings that name the executable of an agent. Each has the name of the agent's driver, and can also come from a variable such as HOLDPOINT_CODEX_ACP. */
export const executableKeys = [
  'claude',
  'codex',
  'opencode',
  'gemini',
  'goose',
  'qwen',
  'copilot',
  'codex-acp',
  'claude-agent-acp',
] as const
type ExecutableKey = (typeof executableKeys)[number]
const executables = Object.fromEntries(executableKeys.map(key => [key, nonEmpty.optional()])) as Readonly<
  Record<ExecutableKey, z.ZodOptional<typeof nonEmpty>>
> // has exactly these keys

const builtInDrivers: ReadonlySet<string> = new Set(['rehearsal', 'external', ...executableKeys])
const AgentName = nonEmpty
  .max(limits.nameMax, `must have at most ${limits.nameMax} characters`)
  .refine(name => !builtInDrivers.has(name), 'is the name of a built-in driver; choose another')
/** A module, or the words of a command line. */
const ConfiguredAgent = z.union(
  [nonEmpty, z.tuple([nonEmpty], z.string())],
  'must be the path of a module, or a list with a program and its arguments',
)
export type ConfiguredAgent = z.infer<typeof ConfiguredAgent>

const Config = z.strictObject({
  port: port.optional(),
  host: nonEmpty.optional(),
  /** Acknowledges that other machines can reach the gateway. Required if `host` is not a loopback address. */
  allowRemote: yesOrNo.optional(),
  /** The location of the data: `file:PATH` or `postgres://…`. */
  store: nonEmpty.optional(),
  /** Host names, other than localhost, that people use to reach the gateway. */
  hosts: z.array(nonEmpty).optional(),
  /** The process in which agents run: a separate process that outlives the gateway (`process`), the gateway's process (`inline`), or only runners that are started separately (`none`). */
  runner: oneOf(['process', 'inline', 'none']).optional(),
  deadlineMs: wholeNumber(limits.deadlineMinMs, limits.deadlineMaxMs).optional(),
  onDeadline: oneOf(['deny', 'wait']).optional(),
  parkAfterMs: wholeNumber(0, Number.MAX_SAFE_INTEGER).nullable().optional(),
  retentionDays: z.number('must be a number of days').min(0, 'must not be negative').optional(),
  /** The user's own agents: for each agent's name, the path of the module that defines the agent, or the command line of an agent that speaks the Agent Client Protocol. */
  agents: z.record(AgentName, ConfiguredAgent).optional(),
  /** The paths of executables. Without such a setting, the driver looks for the executable. */
  ...executables,
})
export type Config = z.infer<typeof Config>
export type ConfigKey = keyof Config

/**
 * Whether a key of a config file applies only if the person has trusted the file. Every key that can run code, move or delete data, or
 * change who can reach the gateway needs trust. The others can at most make a request expire or an agent's process stop
 * sooner or later, and a deadline never allows anything.
 */
const needsTrust: Readonly<Record<Exclude<ConfigKey, ExecutableKey>, boolean>> = {
  agents: true,
  host: true,
  allowRemote: true,
  hosts: true,
  port: true,
  store: true,
  runner: true,
  retentionDays: true,
  deadlineMs: false,
  onDeadline: false,
  parkAfterMs: false,
}

/** Every key that holdpoint.config.json may have. */
export const configKeys = Object.keys(Config.shape) as readonly ConfigKey[] // `Config.shape` has exactly these keys
export const trustedKeys: readonly ConfigKey[] = configKeys.filter(key => isExecutableKey(key) || needsTrust[key])

export function isExecutableKey(key: ConfigKey): key is ExecutableKey {
  return executableKeys.some(name => name === key)
}

/** Errors name the setting as the person wrote it: `--port`, `HOLDPOINT_PORT` or `port`. */
export function parseConfig(value: unknown, nameOf: (path: string) => string): Config {
  const parsed = Config.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue?.code === 'unrecognized_keys')
    throw new Fault('bad_input', `${nameOf(issue.keys[0] ?? '')} is not a setting`)
  throw new Fault('bad_input', `${nameOf(issue?.path.join('.') ?? '')} ${issueMessage(issue)}`)
}
/** Returns the message of a zod issue. For an invalid key of a record, zod nests the message one level deeper. */
function issueMessage(issue: z.core.$ZodIssue | undefined): string {
  return issue?.code === 'invalid_key'
    ? (issue.issues[0]?.message ?? issue.message)
    : (issue?.message ?? 'is not valid')
}
