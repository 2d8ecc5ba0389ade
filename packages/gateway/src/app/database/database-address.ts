// The address of the gateway's database for other programs on this machine, such as a rail with a schema of its own.
import { join } from 'node:path'
import { superuser } from '../../platform/database/embedded/cluster-folder.ts'
import { databaseName } from '../../platform/database/embedded/ensure-running.ts'
import { readPostmasterFile } from '../../platform/database/embedded/postmaster-file.ts'

/** Undefined if the embedded server does not run. */
export async function databaseAddress({
  databaseUrl,
  dataDir,
}: {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
}): Promise<string | undefined> {
  if (databaseUrl !== undefined) return databaseUrl
  const postmaster = await readPostmasterFile(join(dataDir, 'postgres'))
  if (!postmaster) return undefined
  return `postgresql://${superuser}@localhost/${databaseName}?host=${encodeURIComponent(postmaster.socketFolder)}`
}
