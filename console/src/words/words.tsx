// The words of the page in two languages. English is the type: a word that Korean lacks does not compile. The first
// language is the browser's; a choice is kept on this device. Numbers and times follow the reader's own variant of it.
import { useLocalStorage } from '@mantine/hooks'
import { createContext, type ReactNode, use, useEffect, useMemo } from 'react'
import * as englishAudits from './en/audits.ts'
import * as englishBooks from './en/books.ts'
import * as englishCommon from './en/common.ts'
import * as englishCustomers from './en/customers.ts'
import * as englishDiscrepancy from './en/discrepancy.ts'
import * as englishGateway from './en/gateway.ts'
import * as englishHome from './en/home.ts'
import * as englishOperators from './en/operators.ts'
import * as englishOrders from './en/orders.ts'
import * as englishProblems from './en/problems.ts'
import * as englishSession from './en/session.ts'
import * as englishStory from './en/story.ts'
import * as englishTrail from './en/trail.ts'
import * as koreanAudits from './ko/audits.ts'
import * as koreanBooks from './ko/books.ts'
import * as koreanCommon from './ko/common.ts'
import * as koreanCustomers from './ko/customers.ts'
import * as koreanDiscrepancy from './ko/discrepancy.ts'
import * as koreanGateway from './ko/gateway.ts'
import * as koreanHome from './ko/home.ts'
import * as koreanOperators from './ko/operators.ts'
import * as koreanOrders from './ko/orders.ts'
import * as koreanProblems from './ko/problems.ts'
import * as koreanSession from './ko/session.ts'
import * as koreanStory from './ko/story.ts'
import * as koreanTrail from './ko/trail.ts'

const english = {
  ...englishCommon,
  ...englishProblems,
  ...englishSession,
  ...englishHome,
  ...englishOrders,
  ...englishStory,
  ...englishGateway,
  ...englishCustomers,
  ...englishBooks,
  ...englishAudits,
  ...englishDiscrepancy,
  ...englishTrail,
  ...englishOperators,
}
export type Words = typeof english

const korean: Words = {
  ...koreanCommon,
  ...koreanProblems,
  ...koreanSession,
  ...koreanHome,
  ...koreanOrders,
  ...koreanStory,
  ...koreanGateway,
  ...koreanCustomers,
  ...koreanBooks,
  ...koreanAudits,
  ...koreanDiscrepancy,
  ...koreanTrail,
  ...koreanOperators,
}

export const languages = { ko: '한국어', en: 'English' } as const
export type Language = keyof typeof languages

const wordsOf: Record<Language, Words> = { ko: korean, en: english }
const usualLocale: Record<Language, string> = { ko: 'ko-KR', en: 'en-US' }

type Spoken = { language: Language; locale: string; words: Words; setLanguage(language: Language): void }

const LanguageContext = createContext<Spoken | null>(null)

function languageOfBrowser(): Language {
  const spoken = navigator.languages.map((each) => each.slice(0, 2))
  return spoken.find((each): each is Language => each in languages) ?? 'en'
}

function localeOf(language: Language): string {
  return navigator.languages.find((each) => each.startsWith(`${language}-`)) ?? usualLocale[language]
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useLocalStorage<Language>({
    key: 'console-language',
    defaultValue: languageOfBrowser(),
    getInitialValueInEffect: false,
    deserialize: (text) => (text && text in languages ? (text as Language) : languageOfBrowser()),
    serialize: (value) => value,
  })
  useEffect(() => document.documentElement.setAttribute('lang', language), [language])
  const spoken = useMemo(
    () => ({ language, locale: localeOf(language), words: wordsOf[language], setLanguage }),
    [language, setLanguage],
  )
  return <LanguageContext value={spoken}>{children}</LanguageContext>
}

export function useLanguage(): Spoken {
  const spoken = use(LanguageContext)
  if (!spoken) throw new Error('There is no language here.')
  return spoken
}

export function useWords(): Words {
  return useLanguage().words
}
