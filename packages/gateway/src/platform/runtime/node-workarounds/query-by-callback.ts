// Asks the database's driver with a callback and a timer of our own. What the driver (pg 8.23) has for them hangs a
// function on the query; V8 (Node 24) makes a function that is written into a property old from birth, and what it can
// reach grows old with it: every row that was read stayed until the next full collection of the heap. Of 10 MB that were
// read 10.4 MB were kept, so less than one; it may go when the driver's own keeps as little (query-by-callback.test.ts).

export interface CallbackClient<Query, Result> {
  query(query: Query, done: (error: Error | null, result: Result) => void): void
}

/** 0: it may take for ever. Past the time the client is not to be used again, whatever its answer would have been. */
export function queryByCallback<Query, Result>(
  client: CallbackClient<Query, Result>,
  query: Query,
  timeoutMs: number,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const timer = timeoutMs > 0 ? setTimeout(giveUp, timeoutMs, reject) : undefined
  client.query(query, (error, result) => {
    clearTimeout(timer)
    if (error) reject(error)
    else resolve(result)
  })
  return promise
}

function giveUp(reject: (error: Error) => void): void {
  reject(new Error('Query read timeout'))
}
