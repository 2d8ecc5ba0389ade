// Reads the actual tables from PostgreSQL's catalog and reports what prevents distributing the database by
// merchant_id.
import type { Queryable } from './pool.ts'
import { spreadColumn, spreadForeignKeys, type TablePlan, tablePlans } from './tables.ts'

export interface CatalogTable {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly isNullable: boolean }[]
  /** Columns in index order. The name of an expression is empty. */
  readonly uniqueIndexes: readonly {
    readonly name: string
    readonly isPrimary: boolean
    readonly columns: readonly string[]
  }[]
  readonly foreignKeys: readonly {
    readonly name: string
    readonly columns: readonly string[]
    readonly references: string
    readonly referencedColumns: readonly string[]
  }[]
  readonly triggers: readonly string[]
}

export interface Catalog {
  readonly tables: readonly CatalogTable[]
  readonly sequences: readonly string[]
}

export async function readCatalog(database: Queryable): Promise<Catalog> {
  const { rows } = await database.query<{ catalog: Catalog }>(catalogSql)
  return rows[0]?.catalog ?? { tables: [], sequences: [] }
}

const catalogSql = `
with ours as (
  select c.oid, quote_ident(c.relname) as name
    from pg_class c
   where c.relnamespace = current_schema::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
)
select json_build_object(
  'tables', (select coalesce(json_agg(json_build_object(
      'name', o.name,
      'columns', (select json_agg(json_build_object('name', a.attname, 'isNullable', not a.attnotnull) order by a.attnum)
                    from pg_attribute a where a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped),
      'uniqueIndexes', (select coalesce(json_agg(json_build_object(
            'name', i.indexrelid::regclass::text, 'isPrimary', i.indisprimary,
            'columns', (select json_agg(coalesce(a.attname, '') order by k.position)
                          from unnest(i.indkey::smallint[]) with ordinality as k (attnum, position)
                          left join pg_attribute a on a.attrelid = o.oid and a.attnum = k.attnum
                         where k.position <= i.indnkeyatts)) order by i.indexrelid::regclass::text), '[]')
          from pg_index i where i.indrelid = o.oid and i.indisunique),
      'foreignKeys', (select coalesce(json_agg(json_build_object(
            'name', f.conname, 'references', f.confrelid::regclass::text,
            'columns', (select json_agg(a.attname order by k.position)
                          from unnest(f.conkey) with ordinality as k (attnum, position)
                          join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.attnum),
            'referencedColumns', (select json_agg(a.attname order by k.position)
                          from unnest(f.confkey) with ordinality as k (attnum, position)
                          join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.attnum)) order by f.conname), '[]')
          from pg_constraint f where f.conrelid = o.oid and f.contype = 'f' and f.conparentid = 0),
      'triggers', (select coalesce(json_agg(t.tgname order by t.tgname), '[]')
          from pg_trigger t where t.tgrelid = o.oid and not t.tgisinternal)
    ) order by o.name), '[]') from ours o),
  'sequences', (select coalesce(json_agg(s.relname order by s.relname), '[]')
                  from pg_class s
                 where s.relkind = 'S' and s.relnamespace = current_schema::regnamespace
                   and not exists (select 1 from pg_depend d where d.objid = s.oid and d.deptype = 'e'))
) as catalog`

export function faultsOf(
  catalog: Catalog,
  {
    plans = tablePlans,
    isMoving = false,
  }: {
    readonly plans?: Readonly<Record<string, TablePlan>>
    /** Foreign keys may be missing while the tables are being distributed. */
    readonly isMoving?: boolean
  } = {},
): string[] {
  const faults = catalog.sequences.map(
    (name) => `There is a sequence, ${name}: let the program make the identifiers.`,
  )
  for (const table of catalog.tables) {
    const plan = plans[table.name]
    if (!plan) faults.push(`Table ${table.name} has no place: add it to platform/database/tables.ts.`)
    for (const trigger of table.triggers)
      faults.push(
        `Table ${table.name} has a trigger, ${trigger}: do it in the statement that changes the row.`,
      )
    if (plan) faults.push(...foreignKeyFaults(table, plan, plans))
    if (plan?.place === 'spread') faults.push(...spreadFaults(table))
  }
  const there = new Map(catalog.tables.map((table) => [table.name, table]))
  for (const name of Object.keys(plans)) {
    if (!there.has(name))
      faults.push(`platform/database/tables.ts has a place for ${name}, and there is no such table.`)
  }
  for (const { table, name } of isMoving ? [] : spreadForeignKeys(plans)) {
    if (there.has(table) && !there.get(table)?.foreignKeys.some((key) => key.name === name))
      faults.push(
        `platform/database/tables.ts says that ${table} has the foreign key ${name}, and it has not.`,
      )
  }
  return faults
}

function spreadFaults({ name, columns, uniqueIndexes }: CatalogTable): string[] {
  const column = columns.find((each) => each.name === spreadColumn)
  if (!column || column.isNullable) return [`Spread table ${name} needs ${spreadColumn}, not null.`]
  const faults = uniqueIndexes
    .filter((index) => index.columns[0] !== spreadColumn)
    .map((index) => `Unique index ${index.name} of spread table ${name} must begin with ${spreadColumn}.`)
  if (!uniqueIndexes.some(({ isPrimary }) => isPrimary))
    faults.push(`Spread table ${name} has no primary key, without which it cannot be moved online.`)
  return faults
}

function foreignKeyFaults(
  table: CatalogTable,
  plan: TablePlan,
  plans: Readonly<Record<string, TablePlan>>,
): string[] {
  const planned = new Set(
    spreadForeignKeys(plans)
      .filter((key) => key.table === table.name)
      .map((key) => key.name),
  )
  return table.foreignKeys.flatMap(({ name, columns, references, referencedColumns }) => {
    const target = plans[references]
    if (target?.place !== plan.place)
      return [
        `Foreign key ${name} of ${table.name} (${plan.place}) points at ${references} (${target?.place ?? 'without a place'}): both must be in the same place.`,
      ]
    if (plan.place === 'local') return []
    if (columns[0] !== spreadColumn || referencedColumns[0] !== spreadColumn)
      return [
        `Foreign key ${name} of spread table ${table.name} must begin with ${spreadColumn} on both sides.`,
      ]
    return planned.has(name)
      ? []
      : [`Foreign key ${name} of ${table.name} is not in platform/database/tables.ts.`]
  })
}
