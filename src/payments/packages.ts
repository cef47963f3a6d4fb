// Section 2 of the specification: the fixed catalogue, in the order of section 4.5. Price, credits and bonus percentage are
// computed from base and bonus, so that no number is written twice.
import { pricePerCredit } from '../credits/lots/price.ts'

export const packageTypes = ['BASIC', 'STANDARD', 'PRO'] as const
export type PackageType = (typeof packageTypes)[number]

/** The only payment method (section 1). */
export const paymentMethod = 'CARD'

export type CreditPackage = {
  packageType: PackageType
  credits: number
  price: number
  displayName: string
  description: string
  bonusPercentage: number
  bonusCredits: number
}

const catalogue: Record<PackageType, { base: number; bonus: number; displayName: string }> = {
  BASIC: { base: 1, bonus: 0, displayName: 'Basic Plan - 1 Credit' },
  STANDARD: { base: 20, bonus: 1, displayName: 'Standard Plan - 21 Credits' },
  PRO: { base: 100, bonus: 10, displayName: 'Pro Plan - 110 Credits' },
}

const thousands = new Intl.NumberFormat('en-US')

function toPackage(packageType: PackageType): CreditPackage {
  const { base, bonus, displayName } = catalogue[packageType]
  const credits = base + bonus
  const price = base * pricePerCredit
  return {
    packageType,
    credits,
    price,
    displayName,
    description: `${credits} credit(s) for ₩${thousands.format(price)}`,
    bonusPercentage: (bonus / base) * 100,
    bonusCredits: bonus,
  }
}

export const packages: readonly CreditPackage[] = packageTypes.map(toPackage)

const byType = new Map(packages.map((each) => [each.packageType, each]))

export function packageOf(packageType: PackageType): CreditPackage {
  return byType.get(packageType) as CreditPackage
}
