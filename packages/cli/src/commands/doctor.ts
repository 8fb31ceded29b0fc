/** `holdpoint doctor`: checks the installation, the store, the gateway and the agents, and suggests a fix for each problem. It changes nothing. */
import { existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DriverInfo, Fault, messageOf, type Rule } from '@holdpoint/protocol'
import { readConfig } from '../config/config.ts'
import type { Config } from '../config/config-schema.ts'
import { type DataFolder, dataFolderAt, dataFolderProblem, runningProcess } from '../config/data-folder.ts'
import { findGateway, type GatewayAddress, type GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { blankRow, gutterOf, row, trusted, untrusted } from '../output/span.ts'
import { localAgentDrivers } from '../runner/runner.ts'
import { version } from '../version.ts'
import { rulesFindings } from './doctor-rules.ts'
import { type Finding, storeFindings } from './doctor-store.ts'

export interface DoctorOptions extends GatewayAddress {
  readonly store?: string
  readonly json?: boolean
}

/** Returns the exit code: 0 if there are no problems. */
export async function doctor({ home: folder, url, store, json }: DoctorOptions): Promise<number> {
  const dataFolder = dataFolderAt(folder)
  const { config, settings } = readSettings(dataFolder, store)
  // Check the folder first: `gatewayFindings` reads the token, and reading it corrects the mode of the token file.
  const folderFindings = dataFolderFindings(dataFolder)
  const gateway = await gatewayFindings(dataFolder, url)
  const findings = [
    nodeFinding(process.versions.node),
    { name: 'Holdpoint', ok: true, detail: version },
    ...settings,
    ...folderFindings,
    ...(await storeFindings(config, dataFolder)),
    ...gateway.findings,
    ...rulesFindings(dataFolder, gateway.rules),
    ...driverFindings(gateway.drivers ?? (await localDrivers(config, dataFolder))),
  ]
  const problems = findings.filter(({ ok }) => !ok).length
  if (json) out.json({ ok: problems === 0, findings })
  else print(findings, problems)
  return problems === 0 ? 0 : 1
}

/** Reads the settings. Reports invalid settings as a finding, so that the other checks still run. */
function readSettings(
  dataFolder: DataFolder,
  store: string | undefined,
): { readonly config: Config; readonly settings: readonly Finding[] } {
  const flags = store === undefined ? {} : { store }
  try {
    const { config, ignored } = readConfig(dataFolder, flags)
    const remedy = 'run that command to apply these settings'
    return { config, settings: ignored === null ? [] : [{ name: 'Settings', ok: true, detail: ignored, remedy }] }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const remedy = 'fix this setting; until then, holdpoint up does not start'
    return { config: flags, settings: [{ name: 'Settings', ok: false, detail: error.message, remedy }] }
  }
}

function print(findings: readonly Finding[], problems: number): void {
  const width = Math.max(...findings.map(({ name }) => name.length)) + 2
  for (const { name, ok, detail, remedy, notInstalled } of findings) {
    if (notInstalled !== undefined) continue
    const sign = ok ? (remedy === undefined ? trusted('✓ ', 'yes') : trusted('! ', 'strong')) : trusted('✗ ', 'no')
    out.print(row(sign, trusted(name.padEnd(width)), untrusted(detail)))
    const arrow = `${' '.repeat(width + 2)}→ `
    if (remedy !== undefined) out.print({ gutter: gutterOf(arrow), spans: [untrusted(remedy, 'strong')] })
  }
  const agents = findings.flatMap(({ notInstalled = [] }) => notInstalled)
  if (agents.length > 0) {
    const label = `· ${'Agents'.padEnd(width)}`
    out.print(
      { gutter: gutterOf(label), spans: [untrusted(`not installed: ${agents.join(', ')}`, 'quiet')] },
      { gutter: gutterOf(' '.repeat(label.length)), spans: [trusted(aboutOptionalAgents, 'quiet')] },
    )
  }
  const count = problems === 0 ? 'No problems' : problems === 1 ? '1 problem' : `${problems} problems`
  out.print(blankRow, row(trusted(`${count} found.`)))
}

const aboutOptionalAgents = 'You need only those that you want to use. `holdpoint start NAME` says how to install one.'

const nodeMin = [20, 19] as const

export function nodeFinding(node: string): Finding {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const ok = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])
  const remedy = `install Node ${nodeMin.join('.')} or newer`
  return { name: 'Node', ok, detail: node, ...(ok ? {} : { remedy }) }
}

/** Checks that the data folder is writable, and that other users of this machine have no access to the folder and the owner's token. */
function dataFolderFindings(dataFolder: DataFolder): readonly Finding[] {
  const problem = writeProblem(dataFolder.path)
  if (problem !== null) {
    const remedy = 'choose a folder you can write to with --home or HOLDPOINT_HOME'
    return [{ name: 'Data folder', ok: false, detail: `${dataFolder.path} cannot be used (${problem})`, remedy }]
  }
  const exposed = dataFolderProblem(dataFolder.path)
  if (exposed) {
    const { path, detail, remedy } = exposed
    return [{ name: 'Data folder', ok: false, detail: `${path} ${detail}`, remedy }]
  }
  const files = [
    ['Data folder', dataFolder.path],
    ['Token', dataFolder.tokenFile],
  ] as const
  return files.flatMap(([name, path]): Finding[] => {
    if (!existsSync(path)) return [{ name, ok: true, detail: `${path}, created on first start` }]
    const mode = statSync(path).mode & 0o777
    const detail = `${path} (${mode.toString(8)})`
    if ((mode & 0o077) === 0 || process.platform === 'win32') return [{ name, ok: true, detail }]
    return [{ name, ok: false, detail: `${detail}: other users can read it`, remedy: `chmod go= ${path}` }]
  })
}

/** Returns why the folder cannot be written, or null. Creates a temporary folder in it (or in its nearest existing parent), because file modes alone do not show a full disk or a read-only file system. */
function writeProblem(folder: string): string | null {
  let existing = folder
  while (!existsSync(existing)) existing = dirname(existing)
  try {
    rmdirSync(mkdtempSync(join(existing, '.holdpoint-doctor-')))
    return null
  } catch (error) {
    return messageOf(error)
  }
}

interface GatewayCheck {
  readonly findings: readonly Finding[]
  /** The drivers that the gateway's runners offer, or null if the gateway is unreachable or has no live runner. */
  readonly drivers: readonly DriverInfo[] | null
  readonly rules: readonly Rule[]
}

async function gatewayFindings(dataFolder: DataFolder, url: string | undefined): Promise<GatewayCheck> {
  let gateway: GatewayClient | null = null
  try {
    gateway = findGateway(dataFolder, url)
    if (!gateway)
      return {
        findings: [{ name: 'Gateway', ok: false, detail: 'not running', remedy: 'holdpoint up' }],
        drivers: null,
        rules: [],
      }
    const { person } = await gateway.call('whoAmI', {})
    const address = `${gateway.url}, as ${person}`
    const runners = (await gateway.call('listRunners', {})).items.filter(({ live }) => live)
    const drivers = (await gateway.call('listDrivers', {})).items.filter(({ runner }) => runner !== null)
    const rules = (await gateway.call('listRules', {})).items
    const findings = [
      versionFinding('Gateway', address, await versionOf(gateway)),
      runners.length > 0
        ? versionFinding(
            'Runner',
            runners.map(({ name }) => name).join(', '),
            runningProcess(dataFolder, 'runner')?.version ?? null,
          )
        : {
            name: 'Runner',
            ok: false,
            detail: 'none connected, so no agent can run',
            remedy:
              'start one with holdpoint runner, or restart the gateway with one: holdpoint down, then holdpoint up',
          },
    ]
    return { findings, drivers: runners.length > 0 ? drivers : null, rules }
  } catch (error) {
    const detail = `${gateway ? `${gateway.url}: ` : ''}${messageOf(error)}`
    const remedy = gatewayRemedy(error)
    return { findings: [{ name: 'Gateway', ok: false, detail, remedy }], drivers: null, rules: [] }
  }
}

function gatewayRemedy(error: unknown): string {
  if (!(error instanceof Fault)) return 'start it with holdpoint up, or set --url or HOLDPOINT_URL to the right gateway'
  if (error.code === 'unauthenticated' || error.code === 'forbidden')
    return 'set HOLDPOINT_TOKEN to a valid token, or unset it to use the one in the data folder'
  return 'set --url or HOLDPOINT_URL to the right gateway, or leave both out to use the local one'
}

/** Reports a process that was started before an upgrade, because it still runs the old version. */
function versionFinding(name: string, address: string, running: string | null): Finding {
  if (running === null || running === version)
    return { name, ok: true, detail: running === null ? address : `${address}, ${running}` }
  const detail = `${address}, ${running}; this program is ${version}`
  return { name, ok: false, detail, remedy: 'holdpoint down, then holdpoint up' }
}

async function versionOf({ connection: { url, fetch } }: GatewayClient): Promise<string | null> {
  const reply = await fetch(new URL('/healthz', url).href, { headers: {}, redirect: 'error' })
  return String(Object(JSON.parse(await reply.text())).version)
}

function localDrivers(config: Config, dataFolder: DataFolder): Promise<readonly DriverInfo[]> {
  return Promise.all(localAgentDrivers(config, dataFolder).map(driver => driver.info()))
}

/** A driver that is ready may still report something missing, for example that nobody is signed in. Nobody needs all agents, so an agent that is not installed is not a problem. */
function driverFindings(drivers: readonly DriverInfo[]): readonly Finding[] {
  return drivers.map(({ name, title, ready, missing, installed }) => {
    if (missing === undefined) return { name: 'Agent', ok: ready, detail: `${title}: ready` }
    const state = ready ? 'installed' : installed === false ? 'not installed' : 'cannot run'
    const optional = installed === false ? { notInstalled: name } : {}
    return {
      name: 'Agent',
      ok: ready || installed === false,
      detail: `${title}: ${state}`,
      remedy: missing,
      ...optional,
    }
  })
}
