// Where the search of every page leads.

export const findPath = '/find'
export const maxSearchLength = 64
