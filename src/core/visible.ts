// Makes callers' texts safe to show. Reasons, names and references are stored and returned as they were sent, but some characters
// are invisible and change what is seen: controls steer a terminal, bidirectional controls reorder the text around them, others
// hide a difference. Every output (commands, log, files, console) shows them as escapes such as \u202e.

// In emoji the joiner and the selector are part of what is seen: emoji are matched first and kept.
const emojiOrHidden =
  /(\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)*)|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Invisible characters become escapes; within JSON the text stays the same. */
export function visible(text: string): string {
  return text.replace(emojiOrHidden, (found: string, emoji: string | undefined) => emoji ?? escaped(found))
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** Maps every text in the value, at any depth; other values, such as a Date, stay. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, map)]))
}
