export type Bound<Operation> = Operation extends (state: never, ...given: infer Given) => infer Result
  ? (...given: Given) => Result
  : never

/** The operations with their first parameter filled in, so that each is an ordinary function that is read on its own. */
export function bindAll<
  State,
  Operations extends Record<string, (state: State, ...given: never[]) => unknown>,
>(state: State, operations: Operations): { readonly [Name in keyof Operations]: Bound<Operations[Name]> } {
  const bound = Object.entries(operations).map(([name, operation]) => [
    name,
    operation.bind(undefined, state),
  ])
  // Safe: the names and the other parameters are those of the operations.
  return Object.fromEntries(bound)
}
