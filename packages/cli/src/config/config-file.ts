/** Reads a config file once: the same bytes are hashed and parsed, so that a file cannot be replaced between the check of its hash and its use. */
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Fault, parseJsonStrict } from '@holdpoint/protocol'
import { type Config, type ConfiguredAgent, executableKeys, parseConfig } from './config-schema.ts'
import { configTexts } from './texts.ts'

export const configFileName = 'holdpoint.config.json'
const sizeMax = 1024 * 1024

export interface ConfigFile {
  /** The path of the file, without symbolic links in its folder. A link at the end is kept, because paths in the file are relative to the folder of the link. */
  readonly file: string
  readonly sha256: string
  readonly config: Config
}

/** Returns the path of the config file in a folder, without symbolic links, as in `ConfigFile.file`. */
export function configFileIn(folder: string): string {
  return join(realpathSync(folder), configFileName)
}

/** Returns null if there is no such file. */
export function readConfigFile(file: string): ConfigFile | null {
  try {
    const bytes = readRegularFile(file)
    if (bytes === null) return null
    const config = parseConfig(parseJsonStrict(bytes.toString('utf8')), path => path || 'the file')
    return { file, sha256: createHash('sha256').update(bytes).digest('hex'), config: withAbsolutePaths(config, file) }
  } catch (error) {
    if (error instanceof Fault) throw new Fault(error.code, `${file}: ${error.message}`, error.detail)
    throw error
  }
}

/** Returns null if there is no such file. Does not wait for a writer if the file is a pipe. */
export function readRegularFile(file: string, bytesMax = sizeMax): Buffer | null {
  let descriptor: number
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException // errors of `openSync` have this type
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new Fault('bad_input', message)
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new Fault('bad_input', configTexts.notRegularFile)
    if (stats.size > bytesMax) throw new Fault('bad_input', configTexts.tooLarge(bytesMax))
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Paths in a config file are relative to the file's folder. */
function withAbsolutePaths(config: Config, file: string): Config {
  const fromFile = (path: string) => resolve(dirname(file), path)
  const { agents, store } = config
  const executables = executableKeys.flatMap(key => (config[key] === undefined ? [] : [[key, fromFile(config[key])]]))
  return {
    ...config,
    ...(agents && {
      agents: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, agentFromFile(agent, fromFile)])),
    }),
    ...Object.fromEntries(executables),
    ...(store?.startsWith('file:') && { store: `file:${fromFile(store.slice('file:'.length))}` }),
  }
}

/** In a command line, only a program that is named by its path is relative to the file. Any other program is looked up on the PATH. */
function agentFromFile(agent: ConfiguredAgent, fromFile: (path: string) => string): ConfiguredAgent {
  if (typeof agent === 'string') return fromFile(agent)
  const [program, ...args] = agent
  return [program.includes('/') ? fromFile(program) : program, ...args]
}
