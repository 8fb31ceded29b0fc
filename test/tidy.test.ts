/** Checks the rules of CONTRIBUTING.md on the source tree: imports between packages, sizes, names, dead files, public exports. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { noticesFile } from '../scripts/third-party-notices.ts'
import surface from './surface.json' with { type: 'json' }

const root = resolve(import.meta.dirname, '..')
const packages = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client', 'web', 'cli'] as const
type PackageName = (typeof packages)[number]

/** The import table of docs/architecture.md: which packages and libraries each package may import. */
const allowedImports: Record<
  PackageName,
  { readonly packages: readonly PackageName[]; readonly libraries: readonly string[] }
> = {
  protocol: { packages: [], libraries: ['zod'] },
  rules: { packages: ['protocol'], libraries: ['unbash', '@marcbachmann/cel-js'] },
  engine: { packages: ['protocol', 'rules'], libraries: ['node:crypto'] },
  store: { packages: ['protocol', 'engine'], libraries: ['@photostructure/sqlite', 'postgres', 'node:'] },
  drivers: {
    packages: ['protocol', 'client'],
    libraries: [
      '@agentclientprotocol/sdk',
      '@anthropic-ai/claude-agent-sdk',
      'eventsource-parser',
      'ws',
      'zod',
      'node:',
    ],
  },
  server: { packages: ['protocol', 'engine'], libraries: ['ws', 'zod', 'node:'] },
  client: { packages: ['protocol'], libraries: ['diff', 'eventsource-parser', 'marked'] },
  web: {
    packages: ['protocol', 'client'],
    libraries: ['react', 'react-dom', 'virtua', 'marked', 'idb-keyval', 'uqr', 'lucide-react'],
  },
  cli: {
    packages: ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client', 'web'],
    libraries: ['@modelcontextprotocol/sdk', 'commander', 'get-east-asian-width', 'ws', 'zod', 'node:'],
  },
}

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => ending.test(name))
    .map(name => join(folder, name))
}
const sources = (folder: string) => filesIn(folder, /\.tsx?$/)
/** Stylesheets can use files of libraries, such as fonts. */
const styles = (folder: string) => filesIn(folder, /\.css$/)
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const found = [
    ...text.matchAll(
      /(?:^|\n)(?:import|export)\s(?:[^'`;=()]*?\sfrom\s)?\s*'([^']+)'|\bimport\('([^']+)'\)|\burl\("([^"]+)"\)/g,
    ),
  ]
  return found.map(match => (match[1] ?? match[2] ?? match[3]) as string)
}
/** Returns the npm packages that a file imports. */
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
/** Matches a top-level export and captures its name. A schema and its inferred type intentionally share a name in one file. */
const exportPattern = /^export (?:async )?(?:function\*?|class|interface|type|const|let) (\w+)/gm

/** Metaphors that earlier versions used as names of parts. docs/glossary.md lists the current terms. “Place” is not among them, because it also has its plain meaning in names: the place of a comment. */
const metaphors =
  /^(?:desk|house|door|hearth|seat|pulse|warmth|pen|shelter|easel|errand|petition|narrator|archive|ledger)s?$/i

/** Returns the words of a name or a path: `open` and `Desk` of `openDesk`. */
function wordsOf(name: string): readonly string[] {
  return name.split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
}
function hasMetaphor(name: string): boolean {
  return wordsOf(name).some(word => metaphors.test(word))
}

/** Returns the functions of a file, each with its number of lines that are not blank. */
function functionsIn(file: string): readonly { readonly name: string; readonly lines: number }[] {
  const text = readFileSync(file, 'utf8')
  const found: { name: string; lines: number }[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, start, end, id } = node as {
      type?: string
      start: number
      end: number
      id?: { name?: string } | null
    } // if `type` names a kind of function, `node` is an ESTree node and has `start` and `end`
    if (type && /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)) {
      const lines = text.slice(start, end).split('\n')
      found.push({ name: id?.name ?? 'a function', lines: lines.filter(line => line.trim() !== '').length })
    }
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseSync(file, text).program.body)
  return found
}

/** Returns whether a path is, or is inside, what a pattern names. A star matches any text without a slash. */
function matchesGlob(path: string, pattern: string): boolean {
  const parts = pattern.split('/')
  const names = path.split('/')
  return parts.every((part, index) => {
    const [start = '', end = ''] = part.split('*')
    const name = names[index] ?? ''
    return part.includes('*') ? name.startsWith(start) && name.endsWith(end) : part === '' || name === part
  })
}

const nameOf = (name: PackageName) => (name === 'cli' ? 'holdpoint' : `@holdpoint/${name}`)

/** The sources that are bundled into the program. The imports of the program's own sources are checked separately. */
const libraryFiles = packages
  .filter(name => name !== 'web' && name !== 'cli')
  .flatMap(name => sources(join(root, 'packages', name, 'src')))

describe.each(packages)('package %s', name => {
  const folder = join(root, 'packages', name)
  const files = sources(join(folder, 'src'))

  it('a package imports only what the import table allows', () => {
    const { packages: allowed, libraries } = allowedImports[name]
    const allowedNames = allowed.map(nameOf)
    for (const file of files)
      for (const name of importsOf(file)) {
        if (name.startsWith('.')) {
          expect(
            resolve(dirname(file), name).startsWith(join(folder)),
            `${relative(root, file)} imports ${name} from outside its package`,
          ).toBe(true)
          continue
        }
        const fine =
          allowedNames.includes(name) ||
          libraries.some(lib => name === lib || name.startsWith(lib.endsWith(':') ? lib : `${lib}/`))
        expect(fine, `${relative(root, file)} imports ${name}`).toBe(true)
      }
  })

  it('a package declares exactly what it imports', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
      devDependencies?: Record<string, string>
      peerDependencies?: Record<string, string>
    }
    const { dependencies = {}, devDependencies = {}, peerDependencies } = manifest
    const declared = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
    // What the program and the page contain must not be installed a second time.
    const installed = { cli: ['@holdpoint/web', '@photostructure/sqlite'], web: [] as string[] }[name as string]
    expect(Object.keys(installed ? dependencies : devDependencies)).toEqual(installed ?? [])
    // The program bundles our packages, so it must declare the libraries that they import. It also serves the files of @holdpoint/web.
    const bundled =
      name === 'cli'
        ? [...libraryFiles.flatMap(packagesOf).filter(name => !name.startsWith('@holdpoint/')), '@holdpoint/web']
        : []
    const used = [...files, ...styles(join(folder, 'src'))].flatMap(packagesOf)
    expect([...new Set([...used, ...bundled])].sort()).toEqual(declared.sort())
  })

  it('a package has files of at most 400 lines, and each file starts with a doc comment', () => {
    for (const file of files) {
      const text = readFileSync(file, 'utf8')
      expect(text.split('\n').length, relative(root, file)).toBeLessThanOrEqual(401)
      if (!file.endsWith('index.ts'))
        expect(text.startsWith('/**'), `${relative(root, file)} starts with a comment`).toBe(true)
    }
  })

  it('a package has functions of at most 70 lines, not counting blank lines', () => {
    const tooLong = files.flatMap(file =>
      functionsIn(file)
        .filter(({ lines }) => lines > 70)
        .map(({ name: functionName, lines }) => `${relative(root, file)}: ${functionName} has ${lines} lines`),
    )
    expect(tooLong).toEqual([])
  })

  it('a package defines no exported name twice', () => {
    const definitions = new Map<string, Set<string>>()
    for (const file of files)
      for (const [, exported = ''] of readFileSync(file, 'utf8').matchAll(exportPattern))
        definitions.set(exported, (definitions.get(exported) ?? new Set()).add(relative(root, file)))
    const twice = [...definitions].filter(([, places]) => places.size > 1)
    expect(twice.map(([exported, places]) => `${exported}: ${[...places].join(', ')}`)).toEqual([])
  })

  it('a package has no file or export named with a metaphor of earlier versions', () => {
    const exported = files.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(exportPattern)].map(match => match[1]),
    )
    const names = [...exported, ...files.map(file => relative(folder, file))]
    expect(names.filter(found => hasMetaphor(found ?? ''))).toEqual([])
  })

  it('a package has no unused file', () => {
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

  it('a package exports exactly the names in test/surface.json', () => {
    const index = join(folder, 'src', 'index.ts')
    if (name === 'web') return expect(existsSync(join(folder, 'index.html'))).toBe(true)
    const text = readFileSync(index, 'utf8')
    expect(text, 'index.ts lists its exports by name').not.toMatch(/export \*/)
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
    expect(names.sort()).toEqual((surface as Record<string, string[]>)[name])
  })
})

/** Returns the notices that scripts/third-party-notices.ts has written beside a bundle, by library. */
function noticesIn(folder: string): ReadonlyMap<string, { readonly license: string; readonly notice: string }> {
  const text = readFileSync(join(folder, noticesFile), 'utf8')
  const parts = text.split(/^(\S+) \d\S* \((.*)\)\n-+\n/m).slice(1)
  const found = new Map<string, { license: string; notice: string }>()
  for (let at = 0; at < parts.length; at += 3)
    found.set(parts[at] as string, { license: parts[at + 1] as string, notice: parts[at + 2] as string })
  return found
}

/** Dependencies that a library needs only for parts that are not bundled: servers over HTTP and signing in. */
const unbundled: Readonly<Record<string, readonly string[]>> = {
  '@modelcontextprotocol/sdk': [
    '@hono/node-server',
    'cors',
    'eventsource',
    'express',
    'express-rate-limit',
    'hono',
    'jose',
    'json-schema-typed',
    'raw-body',
    'zod-to-json-schema',
  ],
  ajv: ['require-from-string'],
}

/** Returns the libraries that these sources import and that are bundled, with the dependencies of each. */
function librariesOf(files: readonly string[]): readonly string[] {
  const found = new Set(files.flatMap(packagesOf).filter(name => !/^@holdpoint\/|^@anthropic-ai\/|sqlite$/.test(name)))
  // The loop also visits libraries that are added to the set during the loop.
  for (const name of found) {
    const manifest = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    for (const needed of Object.keys(manifest.dependencies ?? {}))
      if (!unbundled[name]?.includes(needed)) found.add(needed)
  }
  return [...found].sort()
}

describe('the bundled program', () => {
  const folder = join(root, 'packages/cli/dist/bundle')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.js'))

  const text = files.map(name => readFileSync(join(folder, name), 'utf8')).join('\n')

  it('the bundled program contains every library but SQLite, which is a binary, and the Claude Agent SDK, which people install themselves', () => {
    const imports = text.matchAll(
      /^(?:import|export)\b.*?\bfrom "([^".][^"]*)"|\b(?:import|__require)\("([^".][^"]*)"\)/gm,
    )
    const names = [...imports].map(match => (match[1] ?? match[2]) as string)
    // The library ws uses these two if a person has installed them.
    const optional = ['bufferutil', 'utf-8-validate']
    const loaded = new Set(names.filter(name => !isBuiltin(name) && !optional.includes(name)))
    expect([...loaded].sort()).toEqual(['@anthropic-ai/claude-agent-sdk', '@photostructure/sqlite'])
  })
  it('the bundled program has the licenses of all libraries that it contains, and so has the page', () => {
    const program = noticesIn(folder)
    const page = noticesIn(join(root, 'packages/web/dist/page'))
    const sourcesOfPage = ['web', 'client', 'protocol'].flatMap(name => sources(join(root, 'packages', name, 'src')))
    const sourcesOfProgram = [...libraryFiles, ...sources(join(root, 'packages/cli/src'))]
    expect([...program.keys()].sort()).toEqual(librariesOf(sourcesOfProgram))
    expect([...page.keys()].sort()).toEqual(librariesOf([...sourcesOfPage, ...styles(join(root, 'packages/web/src'))]))
    for (const [name, { license, notice }] of [...program, ...page]) {
      expect(['MIT', 'ISC', 'BSD-3-Clause', 'Apache-2.0', 'OFL-1.1', 'Unlicense'], name).toContain(license)
      if (license !== 'Unlicense') expect(notice, name).toMatch(/copyright|apache license/i)
    }
  })
  it('the bundled program provides our packages to agent modules', () => {
    for (const name of packages.filter(name => name !== 'web' && name !== 'cli'))
      expect(files, name).toContain(join('packages', `${name}.js`))
  })
})

/** The import table of packages/web/src: a folder may import itself and these. `app.tsx` and `main.tsx` may import every folder, and every folder may import `routes.ts`. */
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

  it('packages/web/src has only folders that are in the import table, and each folder imports only what the table allows', () => {
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

describe('the source tree', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const code = tracked.filter(
    file => /\.(ts|tsx|mjs|js|json|md)$/.test(file) && file !== 'package-lock.json' && existsSync(join(root, file)),
  )

  it('the source tree uses no empty words such as Manager or Helper in names', () => {
    for (const file of code.filter(name => /^packages\/[^/]+\/src\//.test(name)))
      expect(
        /(?:class|function|interface|type|const) \w*(?:Manager|Service|Helper|Util|Impl)\b/.exec(
          readFileSync(join(root, file), 'utf8'),
        )?.[0],
        file,
      ).toBeUndefined()
  })
  it('the source tree has no focused or skipped test', () => {
    for (const file of code.filter(name => /\.test\.tsx?$/.test(name)))
      expect(
        /\b(?:it|test|describe)\.(?:skip|only|todo|fails)\b/.exec(readFileSync(join(root, file), 'utf8'))?.[0],
        file,
      ).toBeUndefined()
  })
  it('the source tree turns the URL of a module into a path with fileURLToPath, because a folder can have a space in its name', () => {
    for (const file of code.filter(name => /\.(?:ts|mjs|js)$/.test(name) && !name.endsWith('tidy.test.ts')))
      expect(/import\.meta\.url\)\.pathname/.exec(readFileSync(join(root, file), 'utf8'))?.[0], file).toBeUndefined()
  })
  it('the source tree has a lock file with the optional binaries of every platform, which npm ci requires', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string>; resolved?: string }>
    }
    const named = Object.values(lock.packages).flatMap(entry => Object.keys(entry.optionalDependencies ?? {}))
    expect(named.filter(name => !lock.packages[`node_modules/${name}`])).toEqual([])
  })
})

describe('the checks of the source tree', () => {
  it('the test run fails when a test fails, even if the run has started a PostgreSQL server', () => {
    inTemporaryFolder(folder => {
      const support = join(root, 'test/support/postgres.ts')
      writeFileSync(
        join(folder, 'failing.test.ts'),
        `import { expect, it } from 'vitest'\nimport { hasPostgres } from '${support}'\nit('fails', async () => expect(await hasPostgres()).toBe('never'))\n`,
      )
      writeFileSync(
        join(folder, 'vitest.config.ts'),
        `export default { test: { pool: 'forks', globalSetup: ['${support}'], include: ['*.test.ts'] } }\n`,
      )
      const vitest = join(root, 'node_modules/vitest/vitest.mjs')
      const { status, stdout } = spawnSync(process.execPath, [vitest, 'run'], { cwd: folder, encoding: 'utf8' })
      expect(stdout).toContain('1 failed')
      expect(status).toBe(1)
    })
  })

  it('the build removes stale compiled files in a clone whose path has a space', () => {
    inTemporaryFolder(folder => {
      const dist = join(folder, 'my clone/packages/rules/dist')
      mkdirSync(dist, { recursive: true })
      mkdirSync(join(folder, 'my clone/scripts'))
      writeFileSync(join(dist, 'gone.js'), '')
      const script = join(folder, 'my clone/scripts/remove-stale-output.mjs')
      copyFileSync(join(root, 'scripts/remove-stale-output.mjs'), script)
      const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
      expect(stderr).toBe('')
      expect(status).toBe(0)
      expect(readdirSync(dist)).toEqual([])
    })
  })

  it('the checks of the source tree find a floating promise and an undeclared import', () => {
    inTemporaryFolder(folder => {
      copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'))
      copyFileSync(join(root, 'packages/rules/package.json'), join(folder, 'package.json'))
      mkdirSync(join(folder, 'src'))
      writeFileSync(
        join(folder, 'src/bad.ts'),
        `import { WebSocket } from 'ws'\nasync function f() {}\nexport function g() {\n  f()\n  new WebSocket('')\n}\n`,
      )
      const { stdout, stderr } = spawnSync(
        join(root, 'node_modules/.bin/biome'),
        ['lint', '--max-diagnostics=100', '.'],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      )
      for (const rule of ['noFloatingPromises', 'noUndeclaredDependencies']) expect(stdout + stderr).toContain(rule)
    })
  })

  it('the checks of the source tree find a metaphor as any word of a name, but not as a part of another word', () => {
    for (const name of ['openDesk', 'SeatMap', 'theHTTPDoor', 'LEDGER_MAX', 'src/house-rules.ts', 'pulses'])
      expect(hasMetaphor(name), name).toBe(true)
    for (const name of ['dependency', 'pending', 'outdoor', 'impulse', 'desktop'])
      expect(hasMetaphor(name), name).toBe(false)
  })

  it('the checks of the source tree count the lines of a function without its blank lines', () => {
    inTemporaryFolder(folder => {
      const file = join(folder, 'long.ts')
      const body = Array.from({ length: 75 }, (_, i) => `  console.log(${i})\n`).join('\n')
      writeFileSync(file, `export function long() {\n${body}}\n`)
      expect(functionsIn(file)).toEqual([{ name: 'long', lines: 77 }])
    })
  })
})

function inTemporaryFolder(run: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-tidy-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('docs/attack-cases.md', () => {
  const page = readFileSync(join(root, 'docs/attack-cases.md'), 'utf8')
  /** The test files that the tables name, each with the names of tests that follow it. */
  const citations = page
    .split('\n')
    .filter(line => line.startsWith('|'))
    .flatMap(line => line.split(/(?=`[\w./-]+\.test\.ts`)/).slice(1))
    .map(part => ({
      file: /`([^`]+)`/.exec(part)?.[1] ?? '',
      names: [...part.matchAll(/“([^”]+)”/g)].map(match => match[1] ?? ''),
    }))

  it('the list of attack cases names only tests that exist, and at least one test in every file', () => {
    expect(citations.length).toBeGreaterThan(40)
    const wrong = citations.flatMap(({ file, names }) => {
      if (!existsSync(join(root, file)) || names.length === 0) return [file]
      const source = readFileSync(join(root, file), 'utf8')
      return names.filter(name => !source.includes(name)).map(name => `${file}: ${name}`)
    })
    expect(wrong).toEqual([])
  })
})

describe('the docs', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const pages = tracked.filter(file => /^(?:docs\/)?[\w-]+\.md$/.test(file) && file !== 'CHANGELOG.md')

  /** Returns whether a page names a file or folder that exists. Pages may leave out `packages/` and `src/`, and name a source file without its folder. */
  const isKnown = (name: string): boolean => {
    const path = name.replace(/[:#].*$/, '')
    if (/^(?:packages|test|scripts|bench|docs|examples)\//.test(path))
      return path.includes('*') ? tracked.some(file => matchesGlob(file, path)) : existsSync(join(root, path))
    const [first = '', ...rest] = path.split('/')
    if (rest.length > 0 && packages.some(known => known === first))
      return ['', 'src'].some(folder => existsSync(join(root, 'packages', first, folder, ...rest)))
    const isSource = /^[\w./-]+\.(?:tsx?|mjs)$/.test(name)
    return !isSource || tracked.some(file => file === path || file.endsWith(`/${path}`))
  }

  it('the docs name only files and folders that exist', () => {
    const missing = pages.flatMap(page => {
      const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '')
      const names = [...text.matchAll(/`([^`\n]+)`/g)].map(match => match[1] as string)
      return names.filter(name => !isKnown(name)).map(name => `${page}: ${name}`)
    })
    expect(pages).toContain('AGENTS.md')
    expect(missing).toEqual([])
  })
})
