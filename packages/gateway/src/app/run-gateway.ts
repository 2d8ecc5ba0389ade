// A gateway in this process, from its start to its end, whichever of the two a stop meets.
import { systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Config } from '../settings/config.ts'
import { logDatabaseEvent } from './database-log.ts'
import { type Gateway, type GatewayParts, startGateway } from './gateway.ts'

export interface GatewayRun {
  /** Undefined: it was stopped before it was ready. */
  readonly started: Promise<Gateway | undefined>
  /** Never rejects. Whether everything ended as it should. */
  stop(options: { isPatient: boolean }): Promise<boolean>
}

export function runGateway(
  config: Config,
  { log, ...parts }: { log: Log } & Pick<GatewayParts, 'shopUrl' | 'shareMetrics' | 'joins'>,
): GatewayRun {
  const starting = new AbortController()
  const started = startGateway(config, {
    ...parts,
    log,
    clock: systemClock,
    tell: (event) => logDatabaseEvent(log, event),
    signal: starting.signal,
    // Past the log, which keeps no secrets: this is for the person who started it.
    onFirstOperator: ({ login, password }) => {
      process.stderr.write(
        `\n  The first operator of the console: ${login}\n  Password, shown this once:         ${password}\n\n`,
      )
    },
  }).catch((error: unknown) => {
    // A start that is given up ends by itself, and what it started is stopped there.
    if (starting.signal.aborted) return undefined
    throw error
  })
  return {
    started,
    async stop(options) {
      starting.abort()
      try {
        await (await started)?.stop(options)
        log.info('stopped')
        return true
      } catch (error) {
        log.error({ err: error }, 'trouble while stopping')
        return false
      }
    },
  }
}
