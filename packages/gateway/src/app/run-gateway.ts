// A gateway in this process, from its start to its end, whichever of the two a stop meets.
import { systemClock } from '../platform/runtime/clock.ts'
import type { Log } from '../platform/runtime/log.ts'
import { logDatabaseEvent } from './database/database-log.ts'
import { type Gateway, type GatewayParts, startGateway } from './gateway.ts'
import type { Config } from './settings/config.ts'
import { operatorLines } from './welcome.ts'

export interface GatewayRun {
  /** Undefined: it was stopped before it was ready. */
  readonly started: Promise<Gateway | undefined>
  /** Never rejects. Whether everything ended as it should. */
  stop(options: { isPatient: boolean }): Promise<boolean>
}

export function runGateway(
  config: Config,
  {
    log,
    ...parts
  }: { log: Log } & Pick<GatewayParts, 'shopUrl' | 'shareMetrics' | 'joins' | 'onFirstOperator'>,
): GatewayRun {
  const starting = new AbortController()
  const started = startGateway(config, {
    // Past the log, which keeps no secrets: this is for the person who started it.
    onFirstOperator: (made) => process.stderr.write(`\n${operatorLines(made).join('\n')}\n\n`),
    ...parts,
    log,
    clock: systemClock,
    tell: (event) => logDatabaseEvent(log, event),
    signal: starting.signal,
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
