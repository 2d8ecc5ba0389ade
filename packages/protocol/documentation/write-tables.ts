// Fills the tables of docs/protocol.md in anew: `node packages/protocol/documentation/write-tables.ts`.
import { readFileSync, writeFileSync } from 'node:fs'
import { fillTables } from './tables.ts'

const path = new URL('../../../docs/protocol.md', import.meta.url)
writeFileSync(path, fillTables(readFileSync(path, 'utf8')))
