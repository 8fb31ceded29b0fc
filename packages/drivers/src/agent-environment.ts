/** The environment that agents and the commands they run inherit: everything but Holdpoint's own variables, which may hold tokens, passwords and addresses. */

type Environment = Readonly<Record<string, string | undefined>>

const prefix = 'HOLDPOINT_'

/** The names of Holdpoint's variables in an environment. Windows ignores the case of names. */
export function holdpointVariables(env: Environment): readonly string[] {
  return Object.keys(env).filter(name => name.toUpperCase().startsWith(prefix))
}

export function withoutHoldpointVariables(env: Environment): Record<string, string | undefined> {
  const rest = { ...env }
  for (const name of holdpointVariables(env)) delete rest[name]
  return rest
}
