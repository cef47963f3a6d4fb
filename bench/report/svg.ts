// What all plots share: background, title, and colours that are readable on light and dark backgrounds.

/** They differ in lightness too, on either background. */
export const colours = {
  blue: { light: '#1f5fbf', dark: '#6ea8ff' },
  paleBlue: { light: '#93b9ee', dark: '#34588c' },
  grey: { light: '#b3bac4', dark: '#6a7480' },
  amber: { light: '#c27c00', dark: '#f0b840' },
  paleAmber: { light: '#efc57c', dark: '#856223' },
  green: { light: '#3a8f5c', dark: '#66c088' },
}
export type Colour = keyof typeof colours

const style = [
  'text { font-family: system-ui, sans-serif; font-size: 12px; fill: #1c2024 }',
  '.title { font-size: 17px; font-weight: 600 }',
  '.quiet { fill: #5a6472 }',
  '.ground { fill: #ffffff }',
  '.grid { stroke: #d9dee4 }',
  '.spread { stroke: #1c2024; stroke-width: 1.2 }',
  '.mark { stroke: #c4281b; stroke-width: 3 }',
  ...Object.entries(colours).map(([name, { light }]) => `.${name} { fill: ${light} }`),
  '@media (prefers-color-scheme: dark) {',
  '  text { fill: #e8ebef }',
  '  .quiet { fill: #a3adb9 }',
  '  .ground { fill: #14171b }',
  '  .grid { stroke: #343b44 }',
  '  .spread { stroke: #e8ebef }',
  '  .mark { stroke: #ff6b5e }',
  ...Object.entries(colours).map(([name, { dark }]) => `  .${name} { fill: ${dark} }`),
  '}',
]

/** A complete SVG with its title at the top. */
export function page(
  { title, subtitle }: { title: string; subtitle: string },
  { width, height }: { width: number; height: number },
  drawn: string[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>\n${style.join('\n')}\n</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    `<text class="title" x="20" y="30">${escaped(title)}</text>`,
    `<text class="quiet" x="20" y="50">${escaped(subtitle)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
