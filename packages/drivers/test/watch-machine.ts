/** The machine of a gateway in tests, with the person's own file of watchers in a temporary data folder. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { GatewayOptions } from '@holdpoint/engine'
import { dataFolderAt } from '../../cli/src/config/data-folder.ts'
import { CachedRulesFiles } from '../../cli/src/config/rules-file.ts'
import { machineFiles } from '../../cli/src/gateway/machine-files.ts'
import { runnerId } from './runner-fixture.ts'

export interface WatchMachine {
  readonly machine: NonNullable<GatewayOptions['machine']>
  /** Writes the person's own file. It applies from the next moment on. */
  write(content: object): void
}

export function watchMachine(home: string): WatchMachine {
  const dataFolder = dataFolderAt(join(home, 'data-folder'))
  mkdirSync(dirname(dataFolder.rulesFile), { mode: 0o700 })
  return {
    machine: { runner: runnerId, home, files: machineFiles, ruleFiles: new CachedRulesFiles(dataFolder) },
    write: content => writeFileSync(dataFolder.rulesFile, JSON.stringify(content)),
  }
}
