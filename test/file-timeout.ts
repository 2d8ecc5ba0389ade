// Loaded before each test file: one that waits for what never comes fails, instead of holding up the whole run. The
// runner's own limit is of single tests.
const limitMs = 10 * 60_000

if (process.env['NODE_TEST_CONTEXT'] !== undefined) setTimeout(giveUp, limitMs).unref()

function giveUp(): void {
  process.stderr.write(`${process.argv[1]} did not end within ${limitMs / 60_000} minutes\n`)
  process.exit(1)
}
