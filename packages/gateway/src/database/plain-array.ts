// Arrays as PostgreSQL reads them, of values that need no quotes: numbers, flags, ids and the gateway's own words. For
// the batches that are written all the time, because the driver searches each element twice for what to escape.

/** Never for what others wrote: a comma or a brace in a text would be read as the array's own. */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`
}
