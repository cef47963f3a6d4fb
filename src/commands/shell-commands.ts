// Commands about the command line itself. They need no database.
import type { Command } from './command.ts'
import { completionScript, type Shell, shells } from './line/completion.ts'

/** `others`: the commands that are completed, besides these. */
export function shellCommands(others: readonly Command[]): Command[] {
  const completion: Command = {
    name: 'completion',
    does: 'Writes a script for the Tab key. It completes commands, options and what they may be.',
    more: [
      'The script is whole: nothing runs when Tab is pressed. Load it again after an upgrade. It completes "credits", ' +
        'whether that is bin/credits in your PATH or an alias.',
    ],
    arguments: [{ name: 'SHELL', about: 'the shell you use', choices: shells }],
    examples: [
      {
        line: 'completion bash > ~/.credits-completion.bash',
        does: 'then in ~/.bashrc: source ~/.credits-completion.bash',
      },
      { line: 'completion zsh > ~/.zfunc/_credits', does: 'with ~/.zfunc in fpath, before compinit' },
      { line: 'completion fish > ~/.config/fish/completions/credits.fish', does: 'loaded by itself' },
    ],
    writes: 'a script',
    changes: false,
    alone: async ({ positionals: [shell = ''] }) => completionScript(shell as Shell, [...others, completion]),
  }
  return [completion]
}
