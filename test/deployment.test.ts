/** Checks the files that run Holdpoint elsewhere (Docker, Compose, the public CI) and what goes into the npm packages. The tests do not need Docker. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { defaultPort } from '../packages/cli/src/config/config.ts'

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

describe('the Dockerfile', () => {
  const text = read('Dockerfile')
  const instructions = text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter(line => /^[A-Z]+ /.test(line))

  it('the Dockerfile passes a linter without a warning', () => {
    expect(validate(text).map(problem => problem.message)).toEqual([])
  })
  it('the Dockerfile runs a program that exists, as a user without root rights', () => {
    const entry = instructions.find(line => line.startsWith('ENTRYPOINT ')) ?? ''
    const [, program] = JSON.parse(entry.slice('ENTRYPOINT '.length)) as string[]
    expect(existsSync(join(root, program ?? 'missing'))).toBe(true)
    expect(instructions).toContain('USER node')
  })
  it('the Dockerfile sets HOLDPOINT_ALLOW_REMOTE, because the gateway listens on every address of the container, and creates a private data folder', () => {
    const env = instructions.find(line => line.startsWith('ENV ')) ?? ''
    expect(env).toContain('HOLDPOINT_HOST=0.0.0.0')
    expect(env).toContain('HOLDPOINT_ALLOW_REMOTE=1')
    expect(instructions).toContain('RUN mkdir -m 700 /data && chown node:node /data')
  })
  it('the Dockerfile exposes and checks the port that the gateway listens on by default', () => {
    expect(instructions).toContain(`EXPOSE ${defaultPort}`)
    expect(instructions.find(line => line.startsWith('HEALTHCHECK'))).toContain(`:${defaultPort}/healthz`)
  })
})

describe('compose.yaml', () => {
  const compose = parse(read('compose.yaml')) as {
    readonly services: Record<string, { readonly [key: string]: unknown }>
    readonly volumes: Record<string, unknown>
  }
  const { gateway, postgres } = compose.services

  it('compose.yaml starts the gateway on PostgreSQL after PostgreSQL is healthy', () => {
    expect(gateway?.environment).toMatchObject({ HOLDPOINT_STORE: expect.stringMatching(/^postgres:\/\/.*@postgres:/) })
    expect(gateway?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
    expect(postgres?.healthcheck).toBeDefined()
  })
  it('compose.yaml publishes the gateway on the loopback address only', () => {
    expect(gateway?.ports).toEqual([`127.0.0.1:${defaultPort}:${defaultPort}`])
  })
  it('compose.yaml declares every volume that a service uses', () => {
    const used = Object.values(compose.services).flatMap(service => (service.volumes ?? []) as string[])
    expect(used.map(volume => volume.split(':')[0]).sort()).toEqual(Object.keys(compose.volumes).sort())
  })
  it('compose.yaml contains no password', () => {
    expect(read('compose.yaml')).not.toMatch(/PASSWORD: (?!\$\{)/)
  })
})

describe('the .github folder', () => {
  it('the .github folder has a workflow that runs .ci/run on Node 20, 22 and 24', () => {
    const { jobs } = parse(read('.github/workflows/test.yml'))
    expect(jobs.test.strategy.matrix.node).toEqual([20, 22, 24])
    expect(jobs.test.steps.at(-1).run).toContain('.ci/run')
  })
  it.each(['bug', 'feature', 'config'])('the .github folder has an issue template "%s" that can be parsed', name => {
    expect(parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`))).toBeTypeOf('object')
  })
})

/** Returns the packages that the types of a package import, starting at the file that its manifest names. */
function importedByTypes(folder: string, entry: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const imported = new Set<string>()
  const follow = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)) {
      if (name.startsWith('.')) follow(join(dirname(file), name.replace(/\.tsx?$/, '.d.ts')))
      else if (!name.startsWith('node:')) imported.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    }
  }
  follow(join(folder, entry))
  return imported
}

describe('npm packages', () => {
  const names = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client', 'web', 'cli']
  const packed = JSON.parse(
    execFileSync(
      'npm',
      ['pack', '--dry-run', '--json', ...names.flatMap(name => ['--workspace', `packages/${name}`])],
      {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    ),
  ) as readonly { readonly name: string; readonly files: readonly { readonly path: string }[] }[]

  it.each(names)('%s is packed with its README and LICENSE and without leftover build files', name => {
    const manifest = JSON.parse(read(`packages/${name}/package.json`))
    const files =
      packed.find(({ name: packedName }) => packedName === manifest.name)?.files.map(({ path }) => path) ?? []
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
    expect(files.filter(file => /tsbuildinfo|\.map$|(^|\/)test\//.test(file))).toEqual([])
    expect(manifest.keywords).toContain('holdpoint')
    // A compiled file without its source is left over from an earlier build: `npm run clean` removes it.
    const compiled = files.filter(file => /^dist\/(?!page\/|whole\/|bundle\/).*\.js$/.test(file))
    const withoutSource = compiled.filter(file => {
      const source = join(root, 'packages', name, file.replace(/^dist/, 'src').replace(/\.js$/, '.ts'))
      return !existsSync(source) && !existsSync(`${source}x`)
    })
    expect(withoutSource).toEqual([])
  })

  it.each(['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client'])(
    'the types of %s import only packages that are installed with it',
    name => {
      const folder = join(root, 'packages', name)
      const { exports, dependencies = {} } = JSON.parse(read(`packages/${name}/package.json`))
      const imported = [...importedByTypes(folder, exports['.'].types)]
      expect(imported.filter(one => !(one in dependencies))).toEqual([])
    },
  )
})
