// Queries pg with a callback and our own timer. The driver (8.23) sets a function as a property of the query, which
// V8 (Node 24) allocates as old, so that all rows survive until a full collection: 10.4 MB kept of 10 MB read. Remove
// when the driver keeps as little (query-by-callback.test.ts).

export interface CallbackClient<Query, Result> {
  query(query: Query, done: (error: Error | null, result: Result) => void): void
}

/** 0 means no limit. After a timeout, the client must not be used again. */
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
