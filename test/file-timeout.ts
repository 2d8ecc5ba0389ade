// Loaded before each process of tests: one that waits for what never comes, or that something left open keeps from
// ending, fails instead of holding up the whole run. The runner's own limits are of tests.
const limitMs = 30 * 60_000

if (process.env['NODE_TEST_CONTEXT'] !== undefined) setTimeout(giveUp, limitMs).unref()

function giveUp(): void {
  process.stderr.write(`${process.argv[1]} did not end within ${limitMs / 60_000} minutes\n`)
  process.exit(1)
}
