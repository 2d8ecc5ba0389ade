// Metrics that the parent of several processes counts itself.
import { Registry } from './registry.ts'

export function makeSupervisorMetrics(processes: number) {
  const registry = new Registry()
  registry
    .gauges({ name: 'tillgate_processes_wanted', help: 'How many processes are to run.' })
    .of()
    .set(processes)
  const restarts = registry
    .counters({
      name: 'tillgate_process_restarts_total',
      help: 'Processes that ended and were started again.',
    })
    .of()
  return { registry, restarts }
}
