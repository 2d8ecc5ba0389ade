// A gateway in this process on a PostgreSQL as it comes, with people to be asked about. Hashing is cheap here, because
// its noise of a millisecond would hide everything else; that every kind is hashed once is for tests to count.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bindMode } from '../../packages/gateway/src/platform/database/mode.ts'
import { openDatabase } from '../../packages/gateway/src/platform/database/open-database.ts'
import { TestClock } from '../../packages/gateway/test/support/clock.ts'
import { openTestGateway } from '../../packages/gateway/test/support/gateway.ts'
import { migrationsFolder } from '../../packages/gateway/test/support/server.ts'
import { askPages } from './asking.ts'
import { type Door, makeDoors } from './doors.ts'
import { makePeople } from './people.ts'

/** With mail, which nobody sends; and a proxy that is trusted to report addresses. */
export const doorEnvironment = {
  TRUSTED_PROXIES: '127.0.0.1',
  REGISTRATION: 'on',
  ROLES: 'api',
  SMTP_URL: 'smtp://127.0.0.1:9',
  SMTP_FROM: 'Pay <no-reply@pay.example>',
}

/** Each line that `ask` makes is for one door. */
export async function withDoors(
  work: (doors: ReadonlyMap<string, Door>, ask: () => ReturnType<typeof askPages>) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tillgate-timing-'))
  const clock = new TestClock()
  const signal = new AbortController().signal
  const database = await openDatabase({
    dataDir,
    databaseUrl: undefined,
    poolMax: 4,
    migrationsFolder,
    report: () => {},
    signal,
  })
  try {
    await bindMode(database.pool, { mode: 'sandbox', isModeGiven: true })
    const gateway = await openTestGateway({
      pool: database.pool,
      place: { DATA_DIR: dataDir, DATABASE_URL: '' },
      clock,
      environment: doorEnvironment,
    })
    try {
      const doors = await makeDoors(gateway, await makePeople(gateway, clock))
      await work(doors, () => askPages(gateway.url, clock))
    } finally {
      await gateway.stop()
    }
  } finally {
    await database.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}
