// The position of a listener, in one file per merchant and gateway: the gateway's cursor, and the handled callbacks of
// the batch after it.
import { join } from 'node:path'
import { UsageError } from '../command.ts'
import type { World } from '../terminal.ts'

export interface ListenState {
  readonly after: string
  readonly handled: readonly string[]
}

/** The standard folder for state (XDG_STATE_HOME). */
export function statePath(
  { merchantId, gatewayUrl }: { readonly merchantId: string; readonly gatewayUrl: string },
  { environment }: Pick<World, 'environment'>,
): string {
  const home = environment['HOME'] ?? environment['USERPROFILE']
  const folder = environment['XDG_STATE_HOME'] ?? (home && join(home, '.local/state'))
  if (!folder) throw new UsageError('No home folder to store the position in. Use --state FILE.')
  return join(
    folder,
    'till',
    `listen-${merchantId}-${new URL(gatewayUrl).host.replace(/[^\w.-]/g, '-')}.json`,
  )
}

/** Undefined if no listener ran before, or the file is unreadable. */
export function readListenState(
  path: string,
  world: Pick<World, 'fileExists' | 'readFile'>,
): ListenState | undefined {
  if (!world.fileExists(path)) return undefined
  try {
    const { after, handled } = JSON.parse(world.readFile(path).toString('utf8')) as Partial<ListenState>
    if (typeof after !== 'string' || !Array.isArray(handled)) return undefined
    return { after, handled: handled.filter((key) => typeof key === 'string') }
  } catch {
    return undefined
  }
}

export function writeListenState(path: string, state: ListenState, world: Pick<World, 'writeFile'>): void {
  world.writeFile(path, `${JSON.stringify(state)}\n`, { mode: 0o600, force: true })
}
