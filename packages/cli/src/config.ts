/** Settings of a run: flags win over HOLDPOINT_* variables, they over holdpoint.config.json. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Fault, faultOfZod, limits, readJson } from '@holdpoint/protocol'
import { z } from 'zod'

const duration = z.int().min(limits.deadlineMinMs).max(limits.deadlineMaxMs)
const Config = z.strictObject({
  port: z.coerce.number().int().min(0).max(65535).optional(),
  host: z.string().min(1).optional(),
  /** file:PATH or postgres://… */
  store: z.string().min(1).optional(),
  /** Names other than localhost under which people reach the gateway. */
  hosts: z.array(z.string().min(1)).optional(),
  /** process: a runner of its own, which outlives the gateway; inline: in the same process; none: runners come from elsewhere. */
  runner: z.enum(['process', 'inline', 'none']).optional(),
  deadlineMs: duration.optional(),
  onDeadline: z.enum(['deny', 'wait']).optional(),
  warmMs: z.int().min(0).nullable().optional(),
  retentionDays: z.number().min(0).optional(),
  /** Agents of your own: a name and the module that defines it. */
  agents: z.record(z.string().min(1), z.string().min(1)).optional(),
})
export type Config = z.infer<typeof Config>

export const defaultPort = 4747
const fileName = 'holdpoint.config.json'

export function readConfig(
  flags: Partial<Record<keyof Config, unknown>>,
  env = process.env,
  folder = process.cwd(),
): Config {
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
  return parse({ ...fromFile(folder), ...fromEnvironment(env), ...given }, 'The settings')
}

function parse(value: unknown, what: string): Config {
  const parsed = Config.safeParse(value)
  if (!parsed.success) throw faultOfZod(parsed.error, what)
  return parsed.data
}

function fromFile(folder: string): Config {
  const file = resolve(folder, fileName)
  if (!existsSync(file)) return {}
  try {
    const config = parse(readJson(readFileSync(file, 'utf8')), file)
    const agents = Object.entries(config.agents ?? {}).map(([name, path]) => [name, resolve(dirname(file), path)])
    return agents.length > 0 ? { ...config, agents: Object.fromEntries(agents) } : config
  } catch (error) {
    if (error instanceof Fault) throw new Fault(error.code, `${file}: ${error.message}`, error.detail)
    throw error
  }
}

function fromEnvironment(env: NodeJS.ProcessEnv): Record<string, unknown> {
  const names = { port: 'PORT', host: 'HOST', store: 'STORE', runner: 'RUNNER', onDeadline: 'ON_DEADLINE' } as const
  const found: Record<string, unknown> = {}
  for (const [key, name] of Object.entries(names)) {
    const value = env[`HOLDPOINT_${name}`]
    if (value !== undefined && value !== '') found[key] = value
  }
  return found
}
