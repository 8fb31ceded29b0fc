/** Collects the regular expressions of the sources: literals from the syntax tree, and computed ones while their modules are loaded. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseSync } from 'vite'

const root = resolve(import.meta.dirname, '../..')

export interface Pattern {
  /** The file and line. */
  readonly where: string
  readonly source: string
  readonly flags: string
}

export function sourceFiles(): readonly string[] {
  const packages = readdirSync(join(root, 'packages')).map(name => join(root, 'packages', name, 'src'))
  return packages.flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => /\.tsx?$/.test(name))
      .map(name => join(folder, name)),
  )
}

/** Returns all patterns of the sources. Throws if a computed pattern is not built while its module is loaded, because such a pattern cannot be checked here. */
export async function patternsInSources(): Promise<readonly Pattern[]> {
  const files = sourceFiles().map(file => {
    const found = patternsInText(relative(root, file), readFileSync(file, 'utf8'))
    return { file, ...found }
  })
  const computed = files.filter(found => found.computed.length > 0)
  const built = await recordConstructed(computed.map(({ file }) => file))
  for (const found of computed) {
    const sites = new Set(built.filter(({ file }) => file === found.file).map(({ site }) => site))
    if (sites.size < found.computed.length)
      throw new Error(
        `${found.computed.join(', ')}: build these patterns in a constant of the module, so that this test can check them; ${sites.size} of ${found.computed.length} are`,
      )
  }
  return [...files.flatMap(({ literal }) => literal), ...built.map(({ pattern }) => pattern)]
}

/** Returns the patterns that are written in the text, and the positions of those that are computed. */
export function patternsInText(
  name: string,
  text: string,
): { readonly literal: readonly Pattern[]; readonly computed: readonly string[] } {
  const literal: Pattern[] = []
  const computed: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node = value as Node // the fields of other objects are undefined
    const where = `${name}:${text.slice(0, node.start ?? 0).split('\n').length}`
    if (node.type === 'Literal' && node.regex)
      literal.push({ where, source: node.regex.pattern, flags: node.regex.flags })
    if ((node.type === 'NewExpression' || node.type === 'CallExpression') && node.callee?.name === 'RegExp') {
      const [source, flags] = (node.arguments ?? []).map(argument => argument.value)
      if (typeof source === 'string') literal.push({ where, source, flags: String(flags ?? '') })
      else computed.push(where)
    }
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseSync(name, text).program.body)
  return { literal, computed }
}

/** The fields of ESTree nodes that are used here. */
interface Node {
  readonly type?: string
  readonly start?: number
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: { readonly name?: string }
  readonly arguments?: readonly { readonly value?: unknown }[]
}

interface Built {
  readonly file: string
  /** The line and column of the call in the module as it runs. */
  readonly site: string
  readonly pattern: Pattern
}

/** Loads the modules, and returns the patterns that their code constructs while it is loaded. */
async function recordConstructed(files: readonly string[]): Promise<readonly Built[]> {
  const built: Built[] = []
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget) as RegExp // the target is RegExp
      const caller = new Error().stack?.split('\n')[2] ?? ''
      const file = files.find(file => caller.includes(file))
      if (file !== undefined) {
        const pattern = { where: relative(root, file), source: made.source, flags: made.flags }
        built.push({ file, site: caller.slice(caller.indexOf(file) + file.length), pattern })
      }
      return made
    },
  })
  try {
    for (const file of files) await import(file)
  } finally {
    globalThis.RegExp = original
  }
  return built
}
