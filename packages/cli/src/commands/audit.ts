/** `holdpoint audit verify`: checks that nobody changed the log or the rows in the database. */
import type { Config } from '../config/config-schema.ts'
import type { DataFolder } from '../config/data-folder.ts'
import { parseStoreLocation } from '../gateway/open-store.ts'
import { verifyLocation } from '../gateway/verify.ts'
import { out } from '../output/output.ts'
import { row, trusted, untrusted } from '../output/span.ts'
import { auditTexts } from './texts.ts'

/** Returns the exit code: 0 if nothing was changed, 1 otherwise. */
export async function verifyAudit(config: Config, dataFolder: DataFolder, json: boolean): Promise<number> {
  const location = parseStoreLocation(config.store, dataFolder)
  const report = await verifyLocation(location, dataFolder, (checked, events) => {
    process.stderr.write(`${auditTexts.progress(checked, events)}\n`)
  })
  if (json) out.json(report)
  else if (report.ok) out.print(row(trusted('✓ ', 'yes'), trusted(auditTexts.verified(report.events, report.rows))))
  else {
    out.print(row(trusted('✗ ', 'no'), untrusted(`${report.problem}.`)))
    out.print(row(trusted('  '), untrusted(report.meaning)))
  }
  return report.ok ? 0 : 1
}
