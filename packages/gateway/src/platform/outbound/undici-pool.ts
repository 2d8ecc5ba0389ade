// undici's pool alone. The package's entry (8.12) loads fetch, WebSockets, caches and mocks with it: 109 files instead of
// 27, 13 MB of memory and 100 ms of CPU at every start. It may go when the entry loads them when they are used
// (undici-pool.test.ts).
import { createRequire } from 'node:module'
import type { Pool as UndiciPool } from 'undici'

// Safe: it is the class that the entry gives out by this name.
export const Pool = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof UndiciPool
export type Pool = UndiciPool
