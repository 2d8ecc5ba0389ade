// The addresses on which this gateway listens. Callbacks and rail messages must not go there.
import { networkInterfaces } from 'node:os'
import type { OwnListeners } from '../platform/runtime/ssrf-guard.ts'
import type { Config } from './settings/config.ts'

/** `bound` is needed besides the configured ports, because 0 lets the system choose. */
export function ownListenersOf(
  { publicListener, adminListener }: Pick<Config, 'publicListener' | 'adminListener'>,
  bound: () => readonly number[] = () => [],
): OwnListeners {
  return {
    ports: () => [publicListener.port, adminListener.port, ...bound()],
    addresses: () =>
      Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address)),
  }
}
