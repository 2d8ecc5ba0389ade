import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import { TestClock } from '../../../test/support/clock.ts'
import { downloadLimits, makeDownloads } from './downloads.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** An endless file that reports when it is closed. */
function endless() {
  const content = { isLetGo: false, iterable: read() }
  async function* read() {
    try {
      for (;;) yield 'x'.repeat(1_000)
    } finally {
      content.isLetGo = true
    }
  }
  return content
}

function start(downloads: ReturnType<typeof makeDownloads>, content = endless()): Readable {
  const stream = downloads.start(content.iterable)
  assert(stream)
  return stream
}

async function take(stream: Readable): Promise<void> {
  await settle()
  stream.read()
  await settle()
}

test('a client that stops reading is disconnected, and its slot is freed', async () => {
  const clock = new TestClock()
  const content = endless()
  const stream = start(makeDownloads(clock), content)
  const over = assert.rejects(finished(stream), /took too long/)
  for (let taken = 0; taken < 10; taken++) {
    await take(stream)
    clock.advance(downloadLimits.stalledMs - 1)
    await settle()
  }
  assert.equal(stream.destroyed, false, 'slow is not stalled')
  clock.advance(2)
  await over
  await settle()
  assert.equal(content.isLetGo, true)
})

test('a download does not stall while the database works, but has a time limit', async () => {
  const clock = new TestClock()
  const busyMs = 2 * downloadLimits.stalledMs
  const stream = makeDownloads(clock).start(
    (async function* () {
      for (;;) {
        await clock.wait(busyMs, new AbortController().signal)
        yield 'x'
      }
    })(),
  )
  assert(stream)
  const over = assert.rejects(finished(stream), /took too long/)
  stream.resume()
  const pass = async (): Promise<void> => {
    clock.advance(busyMs)
    await settle()
    await settle()
  }
  for (let passedMs = busyMs; passedMs < downloadLimits.wholeMs; passedMs += busyMs) await pass()
  assert.equal(stream.destroyed, false)
  await pass()
  await pass()
  await over
})

test('the number of concurrent downloads is limited, and a finished download frees its slot', async () => {
  const downloads = makeDownloads(new TestClock())
  const streams = Array.from({ length: downloadLimits.atOnce }, () => start(downloads))
  assert.equal(downloads.start(endless().iterable), undefined)
  streams[0]?.destroy()
  await settle()
  start(downloads)
  assert.equal(downloads.start(endless().iterable), undefined)
})

test('a merchant has one download at a time, and merchants together leave a slot for operators', async () => {
  const downloads = makeDownloads(new TestClock())
  const startAs = (merchantId: string) => downloads.start(endless().iterable, { merchantId })
  const first = startAs('one')
  assert.ok(first)
  assert.equal(startAs('one'), undefined)
  assert.ok(startAs('two'))
  assert.equal(startAs('three'), undefined)
  start(downloads)
  assert.equal(downloads.start(endless().iterable), undefined)
  first.destroy()
  await settle()
  assert.ok(startAs('one'))
})
