/** An input for the path of a folder. It suggests the folders of recent sessions. */
import { type ReactNode, useId, useMemo } from 'react'
import { useSessions } from '../../gateway/gateway-context.ts'
import { recentFolders } from '../shell/new-session/new-session-form.ts'
import { folderPlaceholder } from './texts.ts'

export interface FolderInputProps {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly value: string
  readonly required?: boolean
  readonly onChange: (value: string) => void
}

export function FolderInput({ value, onChange, ...props }: FolderInputProps): ReactNode {
  const sessions = useSessions()
  const folders = useMemo(() => recentFolders(sessions.values()), [sessions])
  const list = useId()
  return (
    <>
      <input
        {...props}
        className="input code stored-order"
        list={list}
        placeholder={folderPlaceholder}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={value}
        onChange={event => onChange(event.target.value)}
      />
      <datalist id={list}>
        {folders.map(folder => (
          <option key={folder} value={folder} />
        ))}
      </datalist>
    </>
  )
}
