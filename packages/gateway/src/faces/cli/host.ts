// tillgate host …: hosts that callbacks go to. Those that fail are listed; any can be paused and resumed.
import { Command, InvalidArgumentError } from 'commander'
import { maxPauseMs, type PauseHosts } from '../../callbacks/pause-hosts.ts'
import { type OutputOptions, print, table, time, withContext } from './context.ts'

interface ReasonOptions extends OutputOptions {
  readonly reason: string
}

const unitsMs = { m: 60_000, h: 3_600_000 } as const
const defaultPauseMs = 60 * 60_000

export function hostCommand(): Command {
  const command = new Command('host').description('pause and resume the callbacks to a host')

  command
    .command('list')
    .description('hosts that fail or are paused, until when, and how many callbacks wait for them')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withContext(async ({ stores }) => {
        const hosts = await stores.callbackHistory.listFailingHosts()
        const waiting = await stores.callbackPauses.countWaiting(hosts.map(({ host }) => host))
        const all = hosts.map((host) => ({ ...host, waiting: waiting.get(host.host) ?? 0 }))
        print(
          options,
          all,
          all.length === 0
            ? ['No host fails, and none is paused.']
            : table(
                ['host', 'failures', 'since', 'reason', 'paused until', 'waiting'],
                all.map(({ host, failures, failingSinceMs, reason, pausedUntilMs, waiting: count }) => [
                  host,
                  String(failures),
                  time(failingSinceMs),
                  reason,
                  pausedUntilMs === undefined ? 'not paused' : time(pausedUntilMs),
                  String(count),
                ]),
              ),
        )
      }),
    )

  command
    .command('pause')
    .description('send nothing to a host for a while; its callbacks wait, none is lost')
    .argument('<host>', 'as in a callbackUrl, with its port if it has one', (text: string) =>
      text.toLowerCase(),
    )
    .option('--for <duration>', 'how long, 24h at most (15m, 4h)', pause, defaultPauseMs)
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((host: string, options: ReasonOptions & { readonly for: number }) =>
      withHosts(async (hosts) => {
        const { untilMs } = await hosts.pauseHost({ host, forMs: options.for, reason: options.reason })
        print(options, { host, pausedUntilMs: untilMs }, [
          `Nothing is sent to ${host} until ${time(untilMs)} UTC, or until it is resumed. Nothing is lost.`,
        ])
      }),
    )

  command
    .command('resume')
    .description('send what waits for a host, now')
    .argument('<host>', 'as it is listed', (text: string) => text.toLowerCase())
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((host: string, options: ReasonOptions) =>
      withHosts(async (hosts) => {
        await hosts.resumeHost(host, options.reason)
        print(options, { host }, [`What waits for ${host} is sent now.`])
      }),
    )
  return command
}

function withHosts(work: (hosts: PauseHosts) => Promise<void>): Promise<void> {
  return withContext(({ acts }) => work(acts.hosts))
}

function pause(text: string): number {
  const [, amount, unit] = /^(\d{1,4})([mh])$/.exec(text) ?? []
  // Safe: the pattern names the units.
  const ms = Number(amount) * unitsMs[unit as keyof typeof unitsMs]
  if (!(ms > 0 && ms <= maxPauseMs)) throw new InvalidArgumentError('It must be like 15m or 4h, 24h at most.')
  return ms
}
