/** Tidiness as a test: a rule that stands only in prose is already false. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import surface from './surface.json' with { type: 'json' }

const root = resolve(import.meta.dirname, '..')
const rooms = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client', 'web', 'cli'] as const
type Room = (typeof rooms)[number]

/** The arrows of docs/architecture.md: a room may import these and no other, and these libraries. */
const arrows: Record<Room, { readonly rooms: readonly Room[]; readonly libraries: readonly string[] }> = {
  protocol: { rooms: [], libraries: ['zod'] },
  rules: { rooms: ['protocol'], libraries: [] },
  engine: { rooms: ['protocol', 'rules'], libraries: ['node:crypto'] },
  store: { rooms: ['protocol', 'engine'], libraries: ['@photostructure/sqlite', 'postgres', 'node:'] },
  drivers: { rooms: ['protocol'], libraries: ['@anthropic-ai/claude-agent-sdk', 'node:'] },
  server: { rooms: ['protocol', 'engine'], libraries: ['ws', 'zod', 'node:'] },
  client: { rooms: ['protocol'], libraries: ['diff', 'eventsource-parser'] },
  web: {
    rooms: ['protocol', 'client'],
    libraries: ['react', 'react-dom', 'virtua', 'marked', 'lowlight', 'highlight.js', 'idb-keyval'],
  },
  cli: {
    rooms: ['protocol', 'engine', 'store', 'drivers', 'server', 'client', 'web'],
    libraries: ['commander', 'get-east-asian-width', 'ws', 'zod', 'node:'],
  },
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => join(folder, name))
}
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const found = [
    ...text.matchAll(/(?:^|\n)(?:import|export)\s(?:[^'`;=()]*?\sfrom\s)?\s*'([^']+)'|\bimport\('([^']+)'\)/g),
  ]
  return found.map(match => (match[1] ?? match[2]) as string)
}
/** The packages that it imports. */
function packagesOf(file: string): string[] {
  return importsOf(file)
    .filter(name => !name.startsWith('.') && !name.startsWith('node:'))
    .map(name =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    )
}
const nameOf = (room: Room) => (room === 'cli' ? 'holdpoint' : `@holdpoint/${room}`)

/** Of the rooms that the program holds; which rooms it needs itself, its own imports say. */
const libraryFiles = rooms
  .filter(room => room !== 'web' && room !== 'cli')
  .flatMap(room => sources(join(root, 'packages', room, 'src')))

describe.each(rooms)('the room %s', room => {
  const folder = join(root, 'packages', room)
  const files = sources(join(folder, 'src'))

  it('imports only where its arrows point', () => {
    const { rooms: allowed, libraries } = arrows[room]
    const allowedNames = allowed.map(nameOf)
    for (const file of files)
      for (const name of importsOf(file)) {
        if (name.startsWith('.')) {
          expect(
            resolve(dirname(file), name).startsWith(join(folder)),
            `${relative(root, file)} reaches out to ${name}`,
          ).toBe(true)
          continue
        }
        const fine =
          allowedNames.includes(name) ||
          libraries.some(lib => name === lib || name.startsWith(lib.endsWith(':') ? lib : `${lib}/`))
        expect(fine, `${relative(root, file)} imports ${name}`).toBe(true)
      }
  })

  it('declares exactly what it imports', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
      peerDependencies?: Record<string, string>
    }
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    // The program holds the rooms, and loads from its own place what they import; of the page it takes the files.
    const held =
      room === 'cli'
        ? [...libraryFiles.flatMap(packagesOf).filter(name => !name.startsWith('@holdpoint/')), '@holdpoint/web']
        : []
    expect([...new Set([...files.flatMap(packagesOf), ...held])].sort()).toEqual(declared.sort())
  })

  it('has no file past 400 lines, and each says what it knows', () => {
    for (const file of files) {
      const text = readFileSync(file, 'utf8')
      expect(text.split('\n').length, relative(root, file)).toBeLessThanOrEqual(401)
      if (!file.endsWith('index.ts'))
        expect(text.startsWith('/**'), `${relative(root, file)} opens with a sentence`).toBe(true)
    }
  })

  it('has no dead file', () => {
    const entries = ['index.ts', 'main.ts', 'main.tsx'].map(name => join(folder, 'src', name)).filter(existsSync)
    const reached = new Set<string>()
    const walk = (file: string) => {
      if (reached.has(file)) return
      reached.add(file)
      for (const name of importsOf(file))
        if (name.startsWith('.') && /\.tsx?$/.test(name)) walk(resolve(dirname(file), name))
    }
    entries.forEach(walk)
    expect(files.filter(file => !reached.has(file)).map(file => relative(root, file))).toEqual([])
  })

  it('shows exactly the surface that is pinned', () => {
    const index = join(folder, 'src', 'index.ts')
    if (room === 'web') return expect(existsSync(join(folder, 'index.html'))).toBe(true)
    const text = readFileSync(index, 'utf8')
    expect(text, 'index.ts names what it exports').not.toMatch(/export \*/)
    const names = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(match =>
      (match[1] as string)
        .split(',')
        .map(
          part =>
            part
              .trim()
              .replace(/^type /, '')
              .split(' as ')
              .at(-1) as string,
        )
        .filter(Boolean),
    )
    expect(names.sort()).toEqual((surface as Record<string, string[]>)[room])
  })
})

describe('the program', () => {
  const folder = join(root, 'packages/cli/dist/bundle')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.js'))

  it('holds the rooms and what checks their words, and nothing that has its own package', () => {
    const text = files.map(name => readFileSync(join(folder, name), 'utf8')).join('\n')
    const names = [...text.matchAll(/^(?:import|export)\b.*?\bfrom "([^".][^"]*)"|\bimport\("([^".][^"]*)"\)/gm)]
    const loaded = new Set(
      names.map(match => (match[1] ?? match[2]) as string).filter(name => !name.startsWith('node:')),
    )
    const libraries = rooms.filter(room => room !== 'web').flatMap(room => arrows[room].libraries)
    const allowed = libraries.filter(name => name !== 'zod' && !name.endsWith(':'))
    for (const name of loaded)
      expect(
        allowed.some(library => name === library || name.startsWith(`${library}/`)),
        name,
      ).toBe(true)
    expect(loaded, 'it is not empty').toContain('@photostructure/sqlite')
    expect(existsSync(join(folder, 'zod.LICENSE'))).toBe(true)
  })
  it('gives a person’s agent the rooms that run it', () => {
    for (const room of rooms.filter(name => name !== 'web' && name !== 'cli'))
      expect(files, room).toContain(join('packages', `${room}.js`))
  })
})

/** The import table of packages/web/src: a folder may import itself and these. `app.tsx` and `main.tsx` are above all of them, `routes.ts` is below. */
const webFolders: Record<string, readonly string[]> = {
  screens: ['request', 'text', 'shortcuts', 'notifications', 'storage', 'ui', 'gateway'],
  request: ['text', 'shortcuts', 'notifications', 'storage', 'ui', 'gateway'],
  text: ['ui', 'gateway'],
  shortcuts: ['ui', 'gateway'],
  notifications: ['storage', 'ui', 'gateway'],
  storage: ['ui', 'gateway'],
  ui: ['gateway'],
  gateway: [],
}

describe('packages/web/src', () => {
  const folder = join(root, 'packages/web/src')
  const inFolders = sources(folder).filter(file => relative(folder, file).includes('/'))

  it('has only folders of the import table, and each imports only what the table allows', () => {
    for (const file of inFolders) {
      const own = relative(folder, file).split('/')[0] as string
      const allowed = webFolders[own]
      expect(allowed, `${own} is not in the import table`).toBeDefined()
      for (const name of importsOf(file).filter(name => name.startsWith('.'))) {
        const target = relative(folder, resolve(dirname(file), name)).split('/')[0] as string
        const isAllowed = target === own || target === 'routes.ts' || allowed?.includes(target)
        expect(isAllowed, `${relative(root, file)} imports ${name}`).toBe(true)
      }
    }
  })
})

describe('the whole tree', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const code = tracked.filter(
    file => /\.(ts|tsx|mjs|js|json|md)$/.test(file) && file !== 'package-lock.json' && existsSync(join(root, file)),
  )

  it('uses no word that says nothing', () => {
    for (const file of code.filter(name => /^packages\/[^/]+\/src\//.test(name)))
      expect(
        /(?:class|function|interface|type|const) \w*(?:Manager|Service|Helper|Util|Impl)\b/.exec(
          readFileSync(join(root, file), 'utf8'),
        )?.[0],
        file,
      ).toBeUndefined()
  })
  it('has no focused, skipped or empty test', () => {
    for (const file of code.filter(name => /\.test\.tsx?$/.test(name)))
      expect(
        /\b(?:it|test|describe)\.(?:skip|only|todo|fails)\b/.exec(readFileSync(join(root, file), 'utf8'))?.[0],
        file,
      ).toBeUndefined()
  })
  it('has a lock with the optional binaries of every platform, or npm ci would refuse it elsewhere', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string>; resolved?: string }>
    }
    const named = Object.values(lock.packages).flatMap(entry => Object.keys(entry.optionalDependencies ?? {}))
    expect(named.filter(name => !lock.packages[`node_modules/${name}`])).toEqual([])
  })
  it('fails the run when a test fails, although a PostgreSQL server was started for it', () => {
    const folder = mkdtempSync(join(root, 'test', 'planted-'))
    const support = `import { expect, it } from 'vitest'\nimport { hasPostgres } from '../support/postgres.ts'\n`
    try {
      writeFileSync(
        join(folder, 'bad.test.ts'),
        `${support}it('fails', async () => expect(await hasPostgres()).toBe('never'))\n`,
      )
      const { status, stdout } = spawnSync(
        process.execPath,
        [join(root, 'node_modules/vitest/vitest.mjs'), 'run', folder],
        {
          cwd: root,
          encoding: 'utf8',
        },
      )
      expect(stdout).toContain('1 failed')
      expect(status).toBe(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
  it('has the linter find a floating promise, an undeclared import and a long function where they are planted', () => {
    const folder = mkdtempSync(join(root, 'packages', 'rules', 'src', 'planted-'))
    try {
      const lines = Array.from({ length: 75 }, (_, i) => `  console.log(${i})`).join('\n')
      writeFileSync(
        join(folder, 'bad.ts'),
        `import { WebSocket } from 'ws'\nasync function f() {}\nexport function g() {\n  f()\n  new WebSocket('')\n}\nexport function long() {\n${lines}\n}\n`,
      )
      const { stdout, stderr } = spawnSync(
        join(root, 'node_modules/.bin/biome'),
        ['lint', '--max-diagnostics=100', folder],
        { cwd: root, encoding: 'utf8' },
      )
      for (const rule of ['noFloatingPromises', 'noUndeclaredDependencies', 'noExcessiveLinesPerFunction'])
        expect(stdout + stderr).toContain(rule)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
