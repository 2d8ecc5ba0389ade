// Runtime metrics of a process: memory, CPU, and event loop load and delay.
import { performance } from 'node:perf_hooks'
import type { Histogram, Registry } from './registry.ts'

const sampleEveryMs = 100

export function addProcessMetrics(registry: Registry, build: Readonly<Record<string, string>>): void {
  const cpu = registry
    .counters({ name: 'process_cpu_seconds_total', help: 'CPU time, threads included.' })
    .of()
  const memory = registry.gauges({
    name: 'tillgate_memory_bytes',
    help: 'Memory by area: rss as the system counts it, heap as JavaScript uses it, external beside it.',
    by: ['area'],
  })
  const loop = registry.counters({
    name: 'tillgate_event_loop_seconds_total',
    help: 'Time of the event loop by whether it worked or waited.',
    by: ['state'],
  })
  registry
    .gauges({
      name: 'process_start_time_seconds',
      help: 'When the process started, of several the last one, in seconds since 1970.',
      merge: 'max',
    })
    .of()
    .set(Math.round(performance.timeOrigin) / 1000)
  registry
    .gauges({ name: 'tillgate_build_info', help: 'Always 1: what is running.', labels: build, merge: 'max' })
    .of()
    .set(1)
  registry.gauges({ name: 'tillgate_processes', help: 'How many processes of this gateway run.' }).of().set(1)
  registry.beforeReading(() => {
    const { user, system } = process.cpuUsage()
    cpu.value = (user + system) / 1e6
    const { rss, heapUsed, external } = process.memoryUsage()
    memory.of('rss').set(rss)
    memory.of('heap').set(heapUsed)
    memory.of('external').set(external)
    const { active, idle } = performance.eventLoopUtilization()
    loop.of('active').value = active / 1000
    loop.of('idle').value = idle / 1000
  })
}

/** The histogram only grows, so that each reader can compute its own period. */
export function sampleLoopDelay(delay: Histogram): { stop(): void } {
  let expectedMs = performance.now() + sampleEveryMs
  const timer = setInterval(() => {
    const nowMs = performance.now()
    delay.observe(Math.max(0, nowMs - expectedMs) / 1000)
    expectedMs = nowMs + sampleEveryMs
  }, sampleEveryMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
