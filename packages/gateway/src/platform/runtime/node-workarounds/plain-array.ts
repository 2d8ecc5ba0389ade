// Arrays as PostgreSQL reads them, of values that need no quotes: numbers, flags, ids and the gateway's own words.
// For batches that are written all the time: the driver (pg 8.23) searches each element twice for what to escape. It may
// go when the driver quotes only what needs it (plain-array.test.ts).

export type Plain = string | number | bigint | boolean | null | undefined

/** Never for what others wrote: a comma or a brace in a text would be read as the array's own. */
export function plainArray(values: readonly Plain[]): string {
  return `{${values.map((value) => (value === '' ? '""' : (value ?? 'null'))).join(',')}}`
}

/** What many items hold under each of these names, an array a name: as `columnsOf`, of plain values. */
export function plainColumnsOf<Name extends string>(
  items: readonly Readonly<Partial<Record<Name, Plain>>>[],
  ...names: readonly Name[]
): string[] {
  return names.map((name) => plainArray(items.map((item) => item[name])))
}
