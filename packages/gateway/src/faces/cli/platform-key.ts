// tillgate platform-key …: the gateway's own RSA keys, with which callbacks and redirects are signed.
import { Command } from 'commander'
import type { ManagePlatformKeys } from '../../keys/manage-platform-keys.ts'
import { commandName, type OutputOptions, print, table, withContext } from './context.ts'
import { parseSpan } from './durations.ts'

interface RotateOptions extends OutputOptions {
  readonly overlap: number
  readonly atOnce?: boolean
  readonly reason: string
}

const dayMs = 24 * 60 * 60 * 1000
const usualOverlapMs = 7 * dayMs

export function platformKeyCommand(): Command {
  const command = new Command('platform-key').description('list, rotate and retire the gateway’s own keys')

  command
    .command('list')
    .description('all keys, the newest first, and which one signs')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withKeys(async (keys) => {
        const all = await keys.list()
        const rows = all.map((key) => [
          key.keyId,
          key.state,
          day(key.createdAtMs),
          signsFrom(key.signsFromMs),
        ])
        print(options, all, table(['key', 'state', 'made', 'signs from'], rows))
      }),
    )

  command
    .command('rotate')
    .description('make a new key: published now, used for signing after the overlap')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option(
      '--overlap <span>',
      'how long merchants have to take it, such as 12h; 7d unless given',
      parseSpan,
      usualOverlapMs,
    )
    .option('--at-once', 'sign with it now: for a key that was stolen')
    .option('--json', 'print JSON')
    .action((options: RotateOptions) =>
      withKeys(async (keys) => {
        const { atOnce = false, overlap, reason } = options
        const key = await keys.rotate({ overlapMs: atOnce ? 0 : overlap, reason })
        print(options, key, [
          `Key ${key.keyId} is published at /platform-keys${atOnce ? ' and signs now.' : `; it signs from ${signsFrom(key.signsFromMs)} on.`}`,
          '',
          key.publicKey.trimEnd(),
          '',
          atOnce
            ? 'Until merchants have it, they refuse callbacks; these are sent again for seven days.'
            : 'Give it to the merchants: they must accept both keys by then.',
          `Afterwards: ${commandName} platform-key list, and retire the old one.`,
        ])
      }),
    )

  command
    .command('retire')
    .description('publish a key no longer; another must be signing')
    .argument('<keyId>')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((keyId: string, options: OutputOptions & { reason: string }) =>
      withKeys(async (keys) => {
        await keys.retire({ keyId, reason: options.reason })
        print(options, { keyId, state: 'retired' }, [`Key ${keyId} is retired.`])
      }),
    )
  return command
}

function withKeys(work: (keys: ManagePlatformKeys) => Promise<void>): Promise<void> {
  return withContext(({ acts }) => work(acts.platformKeys))
}

function signsFrom(timeMs: number): string {
  return timeMs === 0 ? 'the start' : `${new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function day(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}
