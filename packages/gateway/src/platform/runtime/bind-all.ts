export type Bound<Operation> = Operation extends (state: never, ...given: infer Given) => infer Result
  ? (...given: Given) => Result
  : never

/** Binds the first parameter of each operation, so that operations stay ordinary functions. */
export function bindAll<
  State,
  Operations extends Record<string, (state: State, ...given: never[]) => unknown>,
>(state: State, operations: Operations): { readonly [Name in keyof Operations]: Bound<Operations[Name]> } {
  const bound = Object.entries(operations).map(([name, operation]) => [
    name,
    operation.bind(undefined, state),
  ])
  // Safe: the names and remaining parameters come from the operations.
  return Object.fromEntries(bound)
}
