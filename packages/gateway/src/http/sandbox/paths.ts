// Where the sandbox's own page is, for itself and for whoever links to it.
export const sandboxAccessPath = '/sandbox'
