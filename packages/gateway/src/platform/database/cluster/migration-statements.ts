// Splits a migration into statements and rewrites them for Citus, which requires each constraint of a distributed
// table as a separate, named command.
import { spreadColumn, tablePlans } from '../tables.ts'

export interface MigrationStatement {
  readonly text: string
  readonly offset: number
}

/** Skips comments and quoted text. Migrations contain no `$$` bodies. */
const piece = /--[^\n]*|'(?:[^']|'')*'|"[^"]*"|[();,]|[^-'"();,]+|-/g

export function splitStatements(sql: string): readonly MigrationStatement[] {
  return splitAt(sql, ';', { isEveryDepth: true })
    .map(({ text, offset }) => ({ text: text.trimEnd(), offset: offset + leading(text) }))
    .map(({ text, offset }) => ({ text: text.trimStart(), offset }))
    .filter(({ text }) => withoutComments(text).trim() !== '')
}

export function forCluster(statement: string): readonly string[] {
  const text = withoutComments(statement).trim()
  const [, created] = /^create table (?:if not exists )?(\w+)/i.exec(text) ?? []
  if (created !== undefined && isSpread(created)) return [text, spreadTable(created)]
  const [head = '', altered] = /^alter table (?:only )?(\w+)\s+/i.exec(text) ?? []
  if (altered === undefined || !isSpread(altered)) return [text]
  const table = `alter table ${altered}`
  return splitAt(text.slice(head.length), ',').flatMap(({ text: part }) => {
    const action = part.trim()
    const [, column, check] = /^add column (\w+).*?\bcheck\s*(\(.*\))\s*$/is.exec(action) ?? []
    if (column === undefined || check === undefined) return [`${table} ${action}`]
    return [
      `${table} ${action.slice(0, action.toLowerCase().lastIndexOf(' check ')).trim()}`,
      `${table} add constraint ${altered}_${column}_check check ${check}`,
    ]
  })
}

/** All tables are colocated, so that a merchant's rows share a machine and may reference each other. */
export function spreadTable(name: string): string {
  const [first = ''] = Object.entries(tablePlans).flatMap(([each, { place }]) =>
    place === 'spread' ? each : [],
  )
  const beside = name === first ? 'none' : first
  return `select create_distributed_table('${name}', '${spreadColumn}', colocate_with => '${beside}')`
}

function isSpread(table: string): boolean {
  return tablePlans[table]?.place === 'spread'
}

function splitAt(
  text: string,
  separator: ';' | ',',
  { isEveryDepth = false } = {},
): { text: string; offset: number }[] {
  const parts = [{ text: '', offset: 0 }]
  let depth = 0
  for (const { 0: token, index } of text.matchAll(piece)) {
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    const last = parts.at(-1)
    if (token === separator && (isEveryDepth || depth === 0)) parts.push({ text: '', offset: index + 1 })
    else if (last) last.text += token
  }
  return parts
}

function leading(text: string): number {
  return text.length - text.trimStart().length
}

function withoutComments(text: string): string {
  return text.replace(piece, (token) => (token.startsWith('--') ? '' : token))
}
