/** Inbox and sessions as they are drawn: two columns where there is room, one where there is not. */
import { Box, Text } from 'ink'
import { useSyncExternalStore } from 'react'
import { ours } from '../text/span.ts'
import { type Piece, wrap } from '../text/width.ts'
import { groupsOf, headPiece, listPieces } from './board.ts'
import { Spinner } from './run-view.tsx'
import { Pieces } from './stage.tsx'
import type { PaneFrame, TuiModel } from './tui-model.ts'

const wideFrom = 80
const listShare = 0.32
const listMax = 40

export interface Size {
  readonly columns: number
  readonly rows: number
}
interface Props {
  readonly model: TuiModel
  readonly url: string
  readonly size: () => Size
  readonly now: () => number
}

export function TuiView({ model, url, size, now }: Props) {
  useSyncExternalStore(model.subscribe, model.getSnapshot)
  const { columns, rows } = size()
  // The head, a line under it, the keys.
  const height = Math.max(4, rows - 3)
  const list = Math.min(listMax, Math.floor(columns * listShare))
  const isWide = columns >= wideFrom
  const showsList = isWide || !model.isOpen
  const showsPane = isWide || model.isOpen
  const listColumns = isWide ? list : columns
  const pane = showsPane ? model.pane(isWide ? columns - list - 3 : columns, height) : null
  const around = { columns: listColumns, height, now: now(), focused: !model.isOpen }
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      <Pieces pieces={[headPiece(model.inbox, url, columns), rule(columns)]} />
      <Box height={height} overflow="hidden">
        {showsList ? (
          <Box width={listColumns} height={height} overflow="hidden">
            <Pieces pieces={listPieces(groupsOf(model.inbox), model.selected, around)} />
          </Box>
        ) : null}
        {isWide ? (
          <Box width={3} flexDirection="column">
            <Pieces pieces={Array.from({ length: height }, (): Piece => [ours(' │ ', 'quiet')])} />
          </Box>
        ) : null}
        {pane ? <Pane {...pane} /> : null}
      </Box>
      <Pieces pieces={[wrap(model.keys(columns), columns)[0] ?? []]} />
    </Box>
  )
}

function Pane({ pieces, busy }: PaneFrame) {
  return (
    <Box flexDirection="column" flexGrow={1} overflow="hidden">
      <Pieces pieces={pieces} />
      {busy === null ? <Text> </Text> : <Spinner says={busy} />}
    </Box>
  )
}

function rule(columns: number): Piece {
  return [ours('─'.repeat(columns), 'quiet')]
}
