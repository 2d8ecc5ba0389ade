// Builds PostgreSQL arrays of values that need no quotes: numbers, flags, ids, the gateway's own words. The driver
// (pg 8.23) searches each element twice for characters to escape. Remove when it quotes only what needs it
// (plain-array.test.ts).

export type Plain = string | number | bigint | boolean | null | undefined

/** Never for text from outside, whose commas and braces would be parsed as array syntax. */
export function plainArray(values: readonly Plain[]): string {
  return `{${values.map((value) => (value === '' ? '""' : (value ?? 'null'))).join(',')}}`
}

/** Like `columnsOf`, for plain values. */
export function plainColumnsOf<Name extends string>(
  items: readonly Readonly<Partial<Record<Name, Plain>>>[],
  ...names: readonly Name[]
): string[] {
  return names.map((name) => plainArray(items.map((item) => item[name])))
}
