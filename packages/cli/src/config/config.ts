/** Reads the settings. Flags override HOLDPOINT_* variables, which override holdpoint.config.json. docs/configuration.md lists all settings. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Fault, limits, parseJsonStrict } from '@holdpoint/protocol'
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

const builtInDrivers: ReadonlySet<string> = new Set(['rehearsal', 'claude', 'external'])
const AgentName = nonEmpty
  .max(limits.nameMax, `must have at most ${limits.nameMax} characters`)
  .refine(name => !builtInDrivers.has(name), 'is the name of a built-in driver; choose another')

const Config = z.strictObject({
  port: port.optional(),
  host: nonEmpty.optional(),
  /** Where data is stored: `file:PATH` or `postgres://…`. */
  store: nonEmpty.optional(),
  /** Host names, other than localhost, that people use to reach the gateway. */
  hosts: z.array(nonEmpty).optional(),
  /** Where agents run: in a separate process that outlives the gateway (`process`), in the gateway's process (`inline`), or only in runners that are started separately (`none`). */
  runner: oneOf(['process', 'inline', 'none']).optional(),
  deadlineMs: wholeNumber(limits.deadlineMinMs, limits.deadlineMaxMs).optional(),
  onDeadline: oneOf(['deny', 'wait']).optional(),
  parkAfterMs: wholeNumber(0, Number.MAX_SAFE_INTEGER).nullable().optional(),
  retentionDays: z.number('must be a number of days').min(0, 'must not be negative').optional(),
  /** The user's own agents: for each agent's name, the path of the module that defines the agent. */
  agents: z.record(AgentName, nonEmpty).optional(),
  /** The path of the Claude Code executable. Without this setting, the driver looks for the executable. */
  claude: nonEmpty.optional(),
})
export type Config = z.infer<typeof Config>

/** Every key that holdpoint.config.json may have. */
export const configKeys: readonly string[] = Object.keys(Config.shape)

export const defaultPort = 4747
const fileName = 'holdpoint.config.json'

export function readConfig(
  flags: Partial<Record<keyof Config, unknown>>,
  env = process.env,
  folder = process.cwd(),
): Config {
  const givenFlags = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
  return { ...readConfigFile(folder), ...readEnvironment(env), ...parse(givenFlags, key => `--${key}`) }
}

/** Errors name the setting as the person wrote it: `--port`, `HOLDPOINT_PORT` or `port`. */
function parse(value: unknown, nameOf: (path: string) => string): Config {
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

function readConfigFile(folder: string): Config {
  const file = resolve(folder, fileName)
  if (!existsSync(file)) return {}
  try {
    const config = parse(parseJsonStrict(readFileSync(file, 'utf8')), path => path || 'the file')
    // The paths of modules and of the executable are relative to the file's folder.
    const fromFile = (path: string) => resolve(dirname(file), path)
    const agents = Object.entries(config.agents ?? {}).map(([name, path]) => [name, fromFile(path)])
    return {
      ...config,
      ...(agents.length > 0 && { agents: Object.fromEntries(agents) }),
      ...(config.claude !== undefined && { claude: fromFile(config.claude) }),
    }
  } catch (error) {
    if (error instanceof Fault) throw new Fault(error.code, `${file}: ${error.message}`, error.detail)
    throw error
  }
}

/** The settings that can come from the environment, and the name of the variable for each. */
const environmentVariables = {
  port: 'HOLDPOINT_PORT',
  host: 'HOLDPOINT_HOST',
  store: 'HOLDPOINT_STORE',
  runner: 'HOLDPOINT_RUNNER',
  onDeadline: 'HOLDPOINT_ON_DEADLINE',
  claude: 'HOLDPOINT_CLAUDE',
} as const

function readEnvironment(env: NodeJS.ProcessEnv): Config {
  const found = Object.entries(environmentVariables).flatMap(([key, name]) => {
    const value = env[name]
    return value === undefined || value === '' ? [] : [[key, value]]
  })
  // `parse` reports only keys of its input, and all keys of this input come from `environmentVariables`, so the cast is safe.
  return parse(Object.fromEntries(found), key => environmentVariables[key as keyof typeof environmentVariables])
}
