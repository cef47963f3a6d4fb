// Texts of callers as they may be shown. Reasons, names and references are kept and returned as they were sent; some characters
// in them are not seen and change what is: controls steer a terminal, bidirectional controls turn the order of what stands beside
// them around, others hide a difference. Each output (commands, the log, files, the console) shows them as \u202e, in one place.

// Of emoji the joiner and the selector are part of what is seen: they are matched first and left alone.
const emojiOrHidden =
  /(\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)*)|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Every character that cannot be seen as its escape; within JSON it is the same text as before. */
export function visible(text: string): string {
  return text.replace(emojiOrHidden, (found: string, emoji: string | undefined) => emoji ?? escaped(found))
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** The same value with every text in it changed, however deep; what is no text, as a Date, is left. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, map)]))
}
