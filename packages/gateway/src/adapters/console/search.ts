// The page of search results.

export const findPath = '/find'
export const maxSearchLength = 64
