// Loads only undici's pool, because the package's entry (8.12) also loads fetch, WebSockets, caches and mocks: 13 MB
// and 100 ms of CPU per start. Remove when the entry loads them lazily (undici-pool.test.ts).
import { createRequire } from 'node:module'
import type { Pool as UndiciPool } from 'undici'

// Safe: the entry exports this class under this name.
export const Pool = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof UndiciPool
export type Pool = UndiciPool
