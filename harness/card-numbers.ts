// Finds card numbers in a text: 13 to 19 digits that stand alone, or in groups, and pass the check of their last digit.
// Times in milliseconds have 13 digits too, and one in ten would pass: those of the log are left out by the name of
// their field. Digits within a word, an id or a hash do not stand alone.

const logTime = /"time":\d{13}\b/g
const standalone = /(?<![\w.\\+-])(?:\d{13,19}|\d{4}(?:[ -]\d{4}){2,3}(?:[ -]\d{1,7})?)(?![\w.-])/g

/** Every second digit from the right counts double, and the sum of all digits is a multiple of ten. */
function passesLuhn(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((before, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return before + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

export function cardNumbersIn(text: string): string[] {
  const found = text.replaceAll(logTime, '').match(standalone) ?? []
  return found.filter((each) => !/^0+$/.test(each) && passesLuhn(each.replaceAll(/\D/g, '')))
}
