// Text as one word of a command that is printed to be pasted into a shell.

export const forShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
