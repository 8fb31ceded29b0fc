/** Describes where a call runs, and how rules look up the files there. This package itself does no I/O. */

/** An entry of a folder. Symbolic links are not followed. */
export interface FolderEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'other'
}

/** Reads the file system on which agents run. If a method is missing, everything that needs it counts as not proven. */
export interface FileLookup {
  /** Returns the path without symbolic links, or null if nothing exists there. A dangling link is resolved to the path at which a file would be created. */
  realPath(path: string): string | null
  /** Returns the text of a file of at most 64 KiB, or null if it cannot be read. Without this method, no git command counts as only reading. */
  readText?(path: string): string | null
  /** Returns the bytes of a file of at most 8 MiB, or null if it cannot be read. Without this method, no git command in a repository with files counts as only reading. */
  readBytes?(path: string): Uint8Array | null
  /** Returns what is in a folder, or null if it cannot be read. Without this method, no search through a whole folder is proven. */
  list?(folder: string): readonly FolderEntry[] | null
  /** Returns whether the path is a symbolic link, and null if nothing exists there. Without this method, `realPath` is used, which takes longer. */
  entryKind?(path: string): 'link' | 'other' | null
  /** Returns a text that changes whenever an entry of the folder is added, removed or replaced. Returns null if the path is not a folder, or if the folder has changed so recently that a further change might not change the text. Without this method, links are looked up again for every call. */
  folderVersion?(folder: string): string | null
  /** Returns whether the file has a second name elsewhere (a hard link), under which a change is visible too. */
  hasHardLinks?(path: string): boolean
}

/** The folders and files that a call refers to. */
export interface CallSite {
  /** The folder of the session, without symbolic links. Empty if nobody knows it. */
  readonly folder: string
  /** The folder in which the command runs; inside `folder` unless the agent says otherwise. */
  readonly cwd: string
  readonly home: string
  /** Null if the agent runs on another machine, whose files cannot be looked at. */
  readonly files: FileLookup | null
}
