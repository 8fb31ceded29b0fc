/** Vite plugin that writes the licenses of the libraries that a bundle contains to one file beside it. Most licenses require that their text goes with every copy. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export const noticesFile = 'third-party-licenses.txt'

interface OutputFile {
  readonly moduleIds?: readonly string[]
  /** The files that a font or a picture was made from, relative to the root of the build. */
  readonly originalFileNames?: readonly string[]
}
interface Library {
  readonly name: string
  readonly version: string
  readonly license: string
}

let root = ''
export const thirdPartyNotices = {
  name: 'third-party-notices',
  configResolved(config: { readonly root: string }): void {
    root = config.root
  },
  generateBundle(
    this: { emitFile(file: object): void },
    _options: object,
    bundle: Readonly<Record<string, OutputFile>>,
  ): void {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [], originalFileNames = [] }) => [
      ...moduleIds,
      ...originalFileNames.map(file => resolve(root, file)),
    ])
    const folders = new Set(modules.filter(id => id.includes('/node_modules/')).map(packageFolder))
    const notices = [...folders].map(noticeOf).sort()
    this.emitFile({ type: 'asset', fileName: noticesFile, source: `${notices.join('\n\n')}\n` })
  },
}

/** Returns the nearest folder above the module whose package.json has a version. Some libraries have further package.json files, which only set the type of their modules. */
function packageFolder(module: string): string {
  // Rolldown puts a null character before the names of modules that it has made from others.
  let folder = dirname(module.replace(/^\0/, ''))
  while (!existsSync(join(folder, 'package.json')) || !libraryIn(folder).version) folder = dirname(folder)
  return folder
}
const libraryIn = (folder: string): Library => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

function noticeOf(folder: string): string {
  const { name, version, license } = libraryIn(folder)
  const files = readdirSync(folder).filter(file => /^(?:licen[cs]e|notice|copying)/i.test(file))
  const texts = files.map(file => readFileSync(join(folder, file), 'utf8').trim())
  const title = `${name} ${version} (${license})`
  if (texts.length === 0) texts.push('The package contains no text of its license.')
  return `${title}\n${'-'.repeat(title.length)}\n\n${texts.join('\n\n')}`
}
