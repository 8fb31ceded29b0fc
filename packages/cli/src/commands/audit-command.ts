/** Defines `holdpoint audit` and its subcommands. Their code is imported only when one of them runs. */
import { AnswerKind, Resolution } from '@holdpoint/protocol'
import { type Command, Option } from 'commander'
import type { Config } from '../config/config-schema.ts'
import type { DataFolder } from '../config/data-folder.ts'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { withNotice } from '../output/waiting-notice.ts'
import { auditHelp, jsonHelp, optionHelp } from './help-texts.ts'

interface AuditCommandOptions {
  /** Adds the options that name the gateway. */
  readonly addAddress: (command: Command) => Command
  readonly gateway: (address: GatewayAddress) => Promise<GatewayClient>
  readonly readSettings: (
    flags: Record<string, unknown>,
    home: string | undefined,
  ) => Promise<{ readonly config: Config; readonly dataFolder: DataFolder }>
}

export function defineAuditCommands(audit: Command, { addAddress, gateway, readSettings }: AuditCommandOptions): void {
  addAddress(audit.command('list').description(auditHelp.list))
    .option('--since <time>', optionHelp.since)
    .option('--until <time>', optionHelp.until)
    .option('--person <name>', optionHelp.auditPerson)
    .addOption(new Option('--by <who>', optionHelp.auditBy).choices(Resolution.shape.by.options))
    .addOption(new Option('--answer <kind>', optionHelp.auditAnswer).choices(AnswerKind.options))
    .option('--session <id>', optionHelp.onlySession)
    .option('--folder <folder>', optionHelp.auditFolder)
    .option('--search <text>', optionHelp.auditSearch)
    .option('--notices', optionHelp.notices)
    .option('--limit <n>', optionHelp.auditLimit)
    .addOption(new Option('--csv', optionHelp.csv).conflicts('json'))
    .option('--json', jsonHelp.auditEntries)
    .action(async options => (await import('./audit.ts')).listAudit(await gateway(options), options))
  audit
    .command('verify')
    .description(auditHelp.verify)
    .option('--store <store>', optionHelp.store)
    .addOption(new Option('--home <folder>', optionHelp.home).env('HOLDPOINT_HOME'))
    .option('--json', jsonHelp.report)
    .action(async ({ home, json, ...flags }) => {
      const { config, dataFolder } = await readSettings(flags, home)
      const verified = (await import('./audit.ts')).verifyAudit(config, dataFolder, json === true)
      process.exitCode = await (json ? verified : withNotice('audit', verified))
    })
}
