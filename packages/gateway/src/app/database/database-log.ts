// Logs the database's connections and outages.
import type { DatabaseEvent } from '../../platform/database/open-database.ts'
import type { Log } from '../../platform/runtime/log.ts'

export function logDatabaseEvent(log: Log, event: DatabaseEvent): void {
  switch (event.kind) {
    case 'creating':
      log.info('creating a private PostgreSQL in DATA_DIR')
      break
    case 'running':
      log.info(
        { pid: event.pid, durationMs: event.tookMs },
        event.startedByUs ? 'started PostgreSQL' : 'PostgreSQL is already running',
      )
      break
    case 'database_away':
      // Retries continue; one warning per reason is enough.
      log[event.isReported ? 'debug' : 'warn'](
        { host: event.address, reason: event.reason },
        'waiting for the database',
      )
      break
    case 'migration_blocked':
      log.warn('a migration waits for a table lock, for example of a backup; retrying')
      break
    case 'migrated':
      log.info({ count: event.applied.length }, 'the database schema was updated')
      break
    case 'recovery_failed':
      log.error({ reason: event.reason, waitMs: event.retryInMs }, 'PostgreSQL does not start; retrying')
      break
    case 'statements_not_kept':
      log.warn('the connection pooler does not keep prepared statements; set DATABASE_PREPARED=off')
      break
    case 'stop_forced':
      log.warn('PostgreSQL did not stop in time and was killed')
      break
    // database-outage.ts logs lost and recovered connections where they matter.
    default:
      log.debug({ reason: 'reason' in event ? event.reason : event.kind }, 'PostgreSQL')
  }
}
