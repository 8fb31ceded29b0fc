/** Converts errors of SQLite and of the file system to Faults. */
import { Fault, type FaultCode } from '@holdpoint/protocol'

export function withStoreFaults<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw fileFault(path, error)
  }
}

/** Converts an error of SQLite or the file system to a Fault. Other errors are bugs and are returned unchanged. */
export function fileFault(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Fault || !('code' in error)) return error
  // The low byte is SQLite's primary result code; the other bytes refine it.
  const key = 'errcode' in error ? Number(error.errcode) & 0xff : String(error.code)
  const [code, sentence] = faultsByCode[key] ?? []
  return code ? new Fault(code, `${path} ${sentence} (${error.message})`) : error
}

const locked = [
  'store_locked',
  'is in use by another gateway. Stop it, or choose another file with --store; only one gateway can use a SQLite file.',
] as const
const readOnly = [
  'store_read_only',
  'cannot be written. Check the owner and the permissions of the file and its folder.',
] as const
const full = [
  'store_full',
  'cannot grow because the disk is full. Free some space; this change was not stored.',
] as const
const unavailable = ['store_unavailable', 'cannot be read or written. Check the disk and the path.'] as const
const corrupt = [
  'store_unavailable',
  'is damaged, or not a database. Restore a backup, or choose another file.',
] as const
const tooLong = ['bad_input', 'is too long for the file system. Choose a shorter path.'] as const
const faultsByCode: Readonly<Record<string | number, readonly [FaultCode, string]>> = {
  5: locked,
  6: locked,
  8: readOnly,
  10: unavailable,
  11: corrupt,
  13: full,
  14: unavailable,
  26: corrupt,
  EACCES: readOnly,
  EPERM: readOnly,
  EROFS: readOnly,
  ENOSPC: full,
  EDQUOT: full,
  EIO: unavailable,
  EISDIR: unavailable,
  ENOTDIR: unavailable,
  ENOENT: unavailable,
  ENAMETOOLONG: tooLong,
  ELOOP: unavailable,
}
