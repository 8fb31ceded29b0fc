/** `holdpoint doctor`: what is installed, signed in, kept and running; each problem with its remedy. It looks, and changes nothing. */

import { existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DriverInfo, Fault, messageOf } from '@holdpoint/protocol'
import { type Config, readConfig } from '../config/config.ts'
import { type DataFolder, dataFolderAt, runningProcess } from '../config/data-folder.ts'
import { findGateway, type GatewayAddress, type GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { blankRow, gutterOf, row, trusted, untrusted } from '../output/span.ts'
import { localClaudeDriver } from '../runner/runner.ts'
import { version } from '../version.ts'
import { type Finding, storeFindings } from './doctor-store.ts'

export interface DoctorOptions extends GatewayAddress {
  readonly store?: string
  readonly json?: boolean
}

/** 0 where all is well. */
export async function doctor({ home: folder, url, store, json }: DoctorOptions): Promise<number> {
  const home = dataFolderAt(folder)
  const { config, settings } = readSettings(store)
  // Looked at first: to read a token is to mend its rights.
  const kept = dataFolderFindings(home)
  const gateway = await gatewayFindings(home, url)
  const findings = [
    nodeFinding(process.versions.node),
    { name: 'Holdpoint', ok: true, detail: version },
    ...settings,
    ...kept,
    ...(await storeFindings(config, home)),
    ...gateway.findings,
    ...driverFindings(gateway.drivers ?? [await localClaudeDriver(config, home).info()]),
  ]
  const problems = findings.filter(({ ok }) => !ok).length
  if (json) out.json({ ok: problems === 0, findings })
  else print(findings, problems)
  return problems === 0 ? 0 : 1
}

/** Settings that cannot be read are a finding; the rest is looked at without them. */
function readSettings(store: string | undefined): { readonly config: Config; readonly settings: readonly Finding[] } {
  const flags = store === undefined ? {} : { store }
  try {
    return { config: readConfig(flags), settings: [] }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const remedy = 'set it right: holdpoint up does not start with it'
    return { config: flags, settings: [{ name: 'Settings', ok: false, detail: error.message, remedy }] }
  }
}

function print(findings: readonly Finding[], problems: number): void {
  const width = Math.max(...findings.map(({ name }) => name.length)) + 2
  for (const { name, ok, detail, remedy } of findings) {
    const sign = ok ? (remedy === undefined ? trusted('✓ ', 'yes') : trusted('! ', 'strong')) : trusted('✗ ', 'no')
    out.print(row(sign, trusted(name.padEnd(width)), untrusted(detail)))
    const arrow = `${' '.repeat(width + 2)}→ `
    if (remedy !== undefined) out.print({ gutter: gutterOf(arrow), spans: [untrusted(remedy, 'strong')] })
  }
  const said = problems === 0 ? 'All is well.' : problems === 1 ? 'One thing to mend.' : `${problems} things to mend.`
  out.print(blankRow, row(trusted(said)))
}

const nodeMin = [20, 19] as const

export function nodeFinding(node: string): Finding {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const ok = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])
  const remedy = `install Node ${nodeMin.join('.')} or newer`
  return { name: 'Node', ok, detail: node, ...(ok ? {} : { remedy }) }
}

/** Others on this machine must not read the secrets. */
function dataFolderFindings(home: DataFolder): readonly Finding[] {
  const unusable = writeProblem(home.path)
  if (unusable !== null) {
    const remedy = 'name a folder that can be made and written to: --home, or HOLDPOINT_HOME'
    return [{ name: 'Data folder', ok: false, detail: `${home.path} cannot be used (${unusable})`, remedy }]
  }
  const files = [
    ['Data folder', home.path],
    ['Token', home.tokenFile],
  ] as const
  return files.flatMap(([name, path]): Finding[] => {
    if (!existsSync(path)) return [{ name, ok: true, detail: `${path}, made at the first start` }]
    const mode = statSync(path).mode & 0o777
    const detail = `${path} (${mode.toString(8)})`
    if ((mode & 0o077) === 0 || process.platform === 'win32') return [{ name, ok: true, detail }]
    return [{ name, ok: false, detail: `${detail}: others can read it`, remedy: `chmod go= ${path}` }]
  })
}

/** Tried where it is, or would be: rights alone do not tell (a full disk, a file system that only looks like one). */
function writeProblem(folder: string): string | null {
  let above = folder
  while (!existsSync(above)) above = dirname(above)
  try {
    rmdirSync(mkdtempSync(join(above, '.holdpoint-doctor-')))
    return null
  } catch (error) {
    return messageOf(error)
  }
}

interface GatewayCheck {
  readonly findings: readonly Finding[]
  /** As its runners offer them; null where there is nobody to ask. */
  readonly drivers: readonly DriverInfo[] | null
}

async function gatewayFindings(home: DataFolder, url: string | undefined): Promise<GatewayCheck> {
  let remote: GatewayClient | null = null
  try {
    remote = findGateway(home, url)
    if (!remote)
      return {
        findings: [{ name: 'Gateway', ok: false, detail: 'does not run', remedy: 'holdpoint up' }],
        drivers: null,
      }
    const { person } = await remote.call('whoAmI', {})
    const at = `${remote.url}, as ${person}`
    const runners = (await remote.call('listRunners', {})).items.filter(({ live }) => live)
    const drivers = (await remote.call('listDrivers', {})).items.filter(({ runner }) => runner !== null)
    const findings = [
      versionFinding('Gateway', at, await versionAt(remote.url)),
      runners.length > 0
        ? versionFinding(
            'Runner',
            runners.map(({ name }) => name).join(', '),
            runningProcess(home, 'runner')?.version ?? null,
          )
        : {
            name: 'Runner',
            ok: false,
            detail: 'none is connected: agents cannot run',
            remedy: 'holdpoint runner, or start the gateway with one: holdpoint down, then holdpoint up',
          },
    ]
    return { findings, drivers: runners.length > 0 ? drivers : null }
  } catch (error) {
    const detail = `${remote ? `${remote.url}: ` : ''}${messageOf(error)}`
    const remedy = gatewayRemedy(error)
    return { findings: [{ name: 'Gateway', ok: false, detail, remedy }], drivers: null }
  }
}

function gatewayRemedy(error: unknown): string {
  if (!(error instanceof Fault)) return 'holdpoint up; or name the right gateway (--url, HOLDPOINT_URL)'
  if (error.code === 'unauthenticated' || error.code === 'forbidden')
    return 'name the right token (HOLDPOINT_TOKEN), or none to take the one in the data folder'
  return 'name the right gateway (--url, HOLDPOINT_URL), or none to take the one that runs here'
}

/** One that was started before an upgrade goes on in its old version. */
function versionFinding(name: string, where: string, theirs: string | null): Finding {
  if (theirs === null || theirs === version)
    return { name, ok: true, detail: theirs === null ? where : `${where}, ${theirs}` }
  const detail = `${where}, ${theirs}; this program is ${version}`
  return { name, ok: false, detail, remedy: 'holdpoint down, then holdpoint up' }
}

async function versionAt(url: string): Promise<string | null> {
  const reply: unknown = await (await fetch(new URL('/healthz', url))).json()
  return String(Object(reply).version)
}

/** One that is ready may still have something to say: that nobody seems to be signed in, say. */
function driverFindings(drivers: readonly DriverInfo[]): readonly Finding[] {
  return drivers.map(({ title, ready, missing }) => {
    if (missing === undefined) return { name: 'Agent', ok: ready, detail: `${title}: ready` }
    return { name: 'Agent', ok: ready, detail: `${title}: ${ready ? 'installed' : 'cannot run'}`, remedy: missing }
  })
}
