// The space of young objects while a program starts and after it, in a process of its own: this one's has grown.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const program = `
import { getHeapSpaceStatistics } from 'node:v8'
import { keepYoungSpaceSmall, letYoungSpaceGrow } from '${new URL('./young-space.ts', import.meta.url)}'
const grown = () => {
  const kept = []
  for (let at = 0; at < 300_000; at++) kept.push({ at, text: 'order ' + at })
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
}
if (process.argv[1] === 'small') keepYoungSpaceSmall()
const whileStarting = grown()
letYoungSpaceGrow()
console.log(JSON.stringify([whileStarting, grown()]))`

async function sizesOf(...args: string[]): Promise<[whileStarting: number, later: number]> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, ...args])
  return JSON.parse(stdout)
}

test('young space stays small during startup and grows afterwards', async () => {
  const [whileStarting, later] = await sizesOf('small')
  assert.ok(whileStarting * 4 <= later, `${whileStarting} then ${later} bytes`)
})

test('the workaround is needed while startup makes young space grow', async () => {
  const [[small], [usual]] = await Promise.all([sizesOf('small'), sizesOf()])
  assert.ok(small < usual, 'young-space.ts may go')
})
