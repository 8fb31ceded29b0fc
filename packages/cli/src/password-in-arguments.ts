/** Hides the password of a database URL that was passed as an argument, because every user of the machine can list the arguments of all processes. */
import { printNotice } from './output/notice.ts'

const passwordInUrl = /^(--store=)?(postgres(?:ql)?:\/\/[^:@/]*):[^@]*@/

/** Replaces the arguments that the system shows for this process. Another user can still have seen them before. */
export function hidePassword(argv: readonly string[]): void {
  if (!argv.some(word => passwordInUrl.test(word))) return
  process.title = argv.map(word => word.replace(passwordInUrl, '$1$2:…@')).join(' ')
  printNotice(
    'Other users of this machine can see the password in --store while the program starts. Set HOLDPOINT_STORE instead, or put the store into holdpoint.config.json in the data folder.',
  )
}
