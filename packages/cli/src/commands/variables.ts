/** `holdpoint vars` and `holdpoint set`: show and change the variables of a session. An agent that runs `holdpoint set` changes those of its own session. */
import { parseValue, timeSince, valueText } from '@holdpoint/client'
import { Fault, type Variable, type VariableValue } from '@holdpoint/protocol'
import { dataFolderAt } from '../config/data-folder.ts'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { ownSession } from '../hooks/own-session.ts'
import { out, printEmptyList } from '../output/output.ts'
import { row, trusted, untrusted, untrustedLine } from '../output/span.ts'
import { findSession } from './ids.ts'
import { variableTexts as texts } from './texts.ts'

interface JsonOption {
  readonly json?: boolean
}

export async function listVariables({ call }: GatewayClient, typed: string, { json }: JsonOption): Promise<void> {
  const session = await findSession(call, typed)
  const page = await call('listVariables', { id: session.id })
  if (json) return out.json(page)
  if (page.items.length === 0) return printEmptyList(texts.none)
  const { now } = await call('whoAmI', {})
  out.printTable(
    texts.columns,
    page.items.map(({ name, value, changedBy, changedAt, source }) => [
      trusted(name),
      untrustedLine(valueText(value)),
      changedBy === undefined ? trusted(texts.isDefault, 'quiet') : untrustedLine(changedBy),
      trusted(changedAt === undefined ? '' : timeSince(changedAt, now)),
      untrusted(source.file),
    ]),
  )
}

interface SetOptions extends GatewayAddress, JsonOption {
  readonly session?: string
  readonly file?: string
}

export async function setVariable(
  { call }: GatewayClient,
  name: string,
  typed: string,
  { session: typedSession, file, json, home }: SetOptions,
): Promise<void> {
  // An agent that names a session with --session may still set only what agents may set.
  const own = await ownSession(call, dataFolderAt(home))
  const id =
    typedSession === undefined && own !== null ? own : (await findSession(call, requireSession(typedSession))).id
  const { items } = await call('listVariables', { id })
  const declared = items.filter(
    variable => variable.name === name && (file === undefined || variable.source.file === file),
  )
  const value = valueFor(name, typed, declared, items)
  if (own !== null) {
    const reply = await call('setAgentVariable', { id, name, value })
    if (json) return out.json(reply)
    return out.print(row(trusted(texts.set(name, valueText(reply.value)))))
  }
  const files = [...new Set(declared.map(({ source }) => source.file))]
  if (files.length > 1) throw new Fault('bad_input', texts.severalFiles(name, files))
  const variable = await call('setVariable', { id, name, value, ...(file === undefined ? {} : { file }) })
  if (json) return out.json(variable)
  out.print(row(trusted(texts.set(name, valueText(variable.value)))))
}

function requireSession(typed: string | undefined): string {
  if (typed === undefined) throw new Fault('bad_input', texts.whichSession)
  return typed
}

function valueFor(name: string, typed: string, declared: readonly Variable[], all: readonly Variable[]): VariableValue {
  const [variable] = declared
  if (!variable) {
    const names = [...new Set(all.map(known => known.name))]
    throw new Fault('not_found', texts.notDeclared(name, names))
  }
  const value = parseValue(typed, variable.default)
  if (value === null) throw new Fault('bad_input', texts.wrongType(name, typeof variable.default, typed))
  return value
}
