// A scripted editor: appends the content of the opened file to the file EDITOR_SAW, then writes EDITOR_TEXT to the opened file, or fails if EDITOR_FAILS is set.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'

const file = process.argv[2]
if (process.env.EDITOR_SAW) appendFileSync(process.env.EDITOR_SAW, `${JSON.stringify(readFileSync(file, 'utf8'))}\n`)
if (process.env.EDITOR_FAILS) process.exit(1)
writeFileSync(file, `${process.env.EDITOR_TEXT ?? ''}\n`)
