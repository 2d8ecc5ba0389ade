// Before and after a whole test run: one PostgreSQL for all files, told to them by the environment.
import { serverVariable } from '../packages/gateway/test/support/database.ts'
import { startTestServer } from '../packages/gateway/test/support/server.ts'
import { makeStartedTemplates } from '../packages/gateway/test/support/started.ts'

let stop: (() => Promise<void>) | undefined

export async function globalSetup(): Promise<void> {
  const server = await startTestServer()
  stop = server.stop
  const { connection, workers, template } = server
  const started = await makeStartedTemplates(server)
  process.env[serverVariable] = JSON.stringify({ connection, workers, template, started })
}

export async function globalTeardown(): Promise<void> {
  await stop?.()
}
