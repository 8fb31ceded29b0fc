/** The findings of `holdpoint doctor` about files with rules: your own, those of the current folder and the folders above, and those that the gateway could not use. */
import { realpathSync } from 'node:fs'
import type { Rule } from '@holdpoint/protocol'
import type { DataFolder } from '../config/data-folder.ts'
import { type RulesFile, readRulesFile, rulesFilesFor } from '../config/rules-file.ts'
import { shellQuote } from '../output/shell-quote.ts'
import type { Finding } from './doctor-store.ts'

const name = 'Rules'
const problemRemedy = 'correct the file; until then, a person decides about every call there'

export function rulesFindings(
  dataFolder: DataFolder,
  stored: readonly Rule[],
  folder = process.cwd(),
): readonly Finding[] {
  const files = [dataFolder.rulesFile, ...rulesFilesFor(realpathSync(folder), dataFolder)]
  const elsewhere = stored.flatMap(({ source }): Finding[] =>
    source?.problem === undefined || files.includes(source.file)
      ? []
      : [{ name, ok: false, detail: `${source.file}: ${source.problem}`, remedy: problemRemedy }],
  )
  return [...files.flatMap(file => findingsOf(readRulesFile(file, dataFolder))), ...elsewhere]
}

function findingsOf({ file, folder, trust, content, exposure }: RulesFile): readonly Finding[] {
  if (exposure) {
    const { path, detail, remedy } = exposure
    return [{ name, ok: false, detail: `${file} is ignored, because ${path} ${detail}`, remedy }]
  }
  const isTrusted = folder === null || trust === 'trusted'
  switch (content.kind) {
    case 'missing':
      return isTrusted || trust === 'new'
        ? []
        : [
            {
              name,
              ok: true,
              detail: `${file} was trusted and is gone; its rules that deny or ask still apply`,
              remedy: `to stop applying them: holdpoint trust --remove ${shellQuote(file)}`,
            },
          ]
    case 'problem':
      return [{ name, ok: false, detail: `${file}: ${content.problem}`, remedy: problemRemedy }]
    case 'rules': {
      const detail = `${file} (${counted(content.rules.length, 'rule')}, ${counted(content.watchers.length, 'watcher')})`
      if (isTrusted || content.rules.every(({ effect }) => effect !== 'allow')) return [{ name, ok: true, detail }]
      const reason = trust === 'changed' ? 'it has changed since you trusted it' : 'you have not trusted it'
      return [
        {
          name,
          ok: true,
          detail: `${detail}: its rules that allow something do not apply, because ${reason}`,
          remedy: `to see and trust them: holdpoint trust ${shellQuote(file)}`,
        },
      ]
    }
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
