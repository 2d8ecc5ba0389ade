// The tables of the database by module, drawn from the baseline and the list of distributed tables: each file of
// migrations/ is a box, and a table names the tables that its foreign keys point at.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { tablePlans } from '../../packages/gateway/src/platform/database/tables.ts'
import { box, drawing, text } from './svg.ts'

const migrations = join(import.meta.dirname, '../../packages/gateway/migrations')

export interface DrawnTable {
  readonly name: string
  readonly references: readonly string[]
}

export interface DrawnModule {
  readonly title: string
  readonly tables: readonly DrawnTable[]
}

export function drawnModules(): readonly DrawnModule[] {
  return globSync('*.sql', { cwd: migrations })
    .sort()
    .map((name) => ({
      title: basename(name, '.sql').replace(/^\d+-/, ''),
      tables: tablesIn(readFileSync(join(migrations, name), 'utf8')),
    }))
}

function tablesIn(sql: string): DrawnTable[] {
  return [...sql.matchAll(/^create table (\w+) \((.*?)\)(?: with \(.*?\)| partition by .*?)?;$/gms)].map(
    ([, name = '', body = '']) => ({
      name,
      references: [
        ...new Set([...body.matchAll(/\breferences (\w+)/g)].map(([, parent = '']) => parent)),
      ].filter((parent) => parent !== name),
    }),
  )
}

const size = { width: 420, gap: 16, margin: 16, row: 22, head: 34, foot: 10, columns: 3 } as const
const legend = 40

export function databaseTables(): string {
  const bottoms = Array.from({ length: size.columns }, () => size.margin + legend)
  const parts = [
    text(
      { x: size.margin, y: size.margin + 14 },
      'Bold: distributed by merchant_id on Citus. An arrow is a foreign key.',
      'quiet',
    ),
  ]
  for (const { title, tables } of drawnModules()) {
    const column = bottoms.indexOf(Math.min(...bottoms))
    const at = { x: size.margin + column * (size.width + size.gap), y: bottoms[column] ?? 0 }
    const height = size.head + tables.length * size.row + size.foot
    parts.push(
      box({ ...at, width: size.width, height }),
      text({ x: at.x + 14, y: at.y + 24 }, title, 'strong'),
    )
    for (const [row, { name, references }] of tables.entries()) {
      const y = at.y + size.head + row * size.row + 15
      parts.push(
        text({ x: at.x + 14, y }, name, tablePlans[name]?.place === 'spread' ? 'code strong' : 'code'),
      )
      if (references.length > 0) parts.push(text({ x: at.x + 230, y }, `→ ${references.join(', ')}`, 'quiet'))
    }
    bottoms[column] = at.y + height + size.gap
  }
  return drawing({
    title: 'The tables of the database by module',
    width: 2 * size.margin + size.columns * size.width + (size.columns - 1) * size.gap,
    height: Math.max(...bottoms) - size.gap + size.margin,
    parts,
  })
}
