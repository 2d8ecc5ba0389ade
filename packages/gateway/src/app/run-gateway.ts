// Runs a gateway in this process from start to stop, also if the stop arrives during the start.
import { systemClock } from '../platform/runtime/clock.ts'
import type { Log } from '../platform/runtime/log.ts'
import { logDatabaseEvent } from './database/database-log.ts'
import { type Gateway, type GatewayParts, startGateway } from './gateway.ts'
import type { Config } from './settings/config.ts'
import { operatorLines } from './welcome.ts'

export interface GatewayRun {
  /** Undefined if it was stopped before it was ready. */
  readonly started: Promise<Gateway | undefined>
  /** Never rejects. Returns whether everything stopped cleanly. */
  stop(options: { isPatient: boolean }): Promise<boolean>
}

export function runGateway(
  config: Config,
  {
    log,
    ...parts
  }: { log: Log } & Pick<GatewayParts, 'early' | 'shopUrl' | 'shareMetrics' | 'joins' | 'onFirstOperator'>,
): GatewayRun {
  const starting = new AbortController()
  const started = startGateway(config, {
    // Not through the log, which contains no secrets: the output is for the person who started the gateway.
    onFirstOperator: (made) => process.stderr.write(`\n${operatorLines(made).join('\n')}\n\n`),
    ...parts,
    log,
    clock: systemClock,
    report: (event) => logDatabaseEvent(log, event),
    signal: starting.signal,
  }).catch(async (error: unknown) => {
    await parts.early?.leave()
    // A cancelled start stops what it started.
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
        log.error({ err: error }, 'the stop failed')
        return false
      }
    },
  }
}
