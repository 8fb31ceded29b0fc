/** Texts about what a command is waiting for. */

export const waitingTexts = {
  gateway: 'Waiting for the gateway to answer… (Ctrl+C to stop waiting)',
  down: 'Waiting for the gateway and its runner to stop…',
  doctor: 'Checking the installation, the store and the agents…',
  audit: 'Verifying the audit log… (Ctrl+C to stop)',
  backup: 'Copying the store…',
  restore: 'Restoring the backup. Do not interrupt it…',
} as const
