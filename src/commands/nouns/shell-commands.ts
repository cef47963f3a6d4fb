// Commands about the command line itself, which need no database.
import type { Command } from '../command.ts'
import { completionScript, type Shell, shells } from '../line/completion.ts'

/** `others`: all other commands, which the script completes too. */
export function shellCommands(others: readonly Command[]): Command[] {
  const completion: Command = {
    name: 'completion',
    summary: 'Writes a completion script for the shell. It completes commands, options and their values.',
    details: [
      'The script is self-contained: pressing Tab starts no other program. Write it again after an upgrade. It completes ' +
        '"credits", as bin/credits in your PATH or as an alias.',
    ],
    arguments: [{ name: 'SHELL', description: 'your shell', choices: shells }],
    examples: [
      {
        line: 'completion bash > ~/.credits-completion.bash',
        description: 'then in ~/.bashrc: source ~/.credits-completion.bash',
      },
      { line: 'completion zsh > ~/.zfunc/_credits', description: 'with ~/.zfunc in fpath, before compinit' },
      { line: 'completion fish > ~/.config/fish/completions/credits.fish', description: 'fish loads it automatically' },
    ],
    writes: 'a script',
    changesData: false,
    runStandalone: async ({ positionals: [shell = ''] }) => completionScript(shell as Shell, [...others, completion]),
  }
  return [completion]
}
