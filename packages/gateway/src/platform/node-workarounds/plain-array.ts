// Arrays as PostgreSQL reads them, of values that need no quotes: numbers, flags, ids and the gateway's own words.
// For batches that are written all the time: the driver (pg 8.23) searches each element twice for what to escape. It may
// go when the driver quotes only what needs it (plain-array.test.ts).

/** Never for what others wrote: a comma or a brace in a text would be read as the array's own. */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`
}
