// Both languages of the shop, and how the language is chosen.

import { en, type Texts } from './en.ts'
import { ko } from './ko.ts'

export type { Texts }

export type Language = 'ko' | 'en'

export const languageNames: Record<Language, string> = { ko: '한국어', en: 'English' }

export const texts: Record<Language, Texts> = { ko, en }

/** The requested language, then the one chosen before, then the browser's preference, then Korean. */
export function chooseLanguage(requested: unknown, chosen: unknown, acceptLanguage: string | undefined): Language {
  for (const language of [requested, chosen]) if (language === 'ko' || language === 'en') return language
  const preferred = (acceptLanguage ?? '')
    .split(',')
    .map((item) => ({ name: item.trim().slice(0, 2), weight: Number(/;\s*q=([\d.]+)/.exec(item)?.[1] ?? 1) }))
    .filter(({ name, weight }) => (name === 'ko' || name === 'en') && weight > 0)
    .sort((one, other) => other.weight - one.weight)
  return preferred[0]?.name === 'en' ? 'en' : 'ko'
}
