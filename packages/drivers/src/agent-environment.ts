/** The environment that agents and their commands inherit: the runner's, without Holdpoint's own variables, which may hold tokens, passwords and addresses, and without folders of programs that a project has installed. */
import { delimiter } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

const prefix = 'HOLDPOINT_'

/** Returns the environment variable that names the executable of a driver. */
export function executableVariable(name: string): string {
  return `${prefix}${name.toUpperCase().replaceAll('-', '_')}`
}

/** Returns the names of Holdpoint's variables in an environment. Windows ignores the case of names. */
export function holdpointVariables(env: Environment): readonly string[] {
  return Object.keys(env).filter(name => name.toUpperCase().startsWith(prefix))
}

export function withoutHoldpointVariables(env: Environment): Record<string, string | undefined> {
  const rest = { ...env }
  for (const name of holdpointVariables(env)) delete rest[name]
  return rest
}

/** Returns the environment for an agent that a runner starts. `npx` and `npm` put `node_modules/.bin` of the project first in PATH; a package of the project could replace `git` there. */
export function agentEnvironment(env: Environment): Record<string, string | undefined> {
  const result = withoutHoldpointVariables(env)
  for (const [name, value] of Object.entries(result))
    if (name.toUpperCase() === 'PATH' && value !== undefined)
      result[name] = value
        .split(delimiter)
        .filter(entry => !isProjectPrograms(entry))
        .join(delimiter)
  return result
}

function isProjectPrograms(folder: string): boolean {
  const names = folder.split(/[/\\]/).filter(name => name !== '' && name !== '.')
  return names.at(-1) === '.bin' && names.at(-2) === 'node_modules'
}
