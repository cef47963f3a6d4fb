// Which addresses are public: global unicast and nothing else. Of IPv6 only the global block counts, without its special
// ranges, so addresses that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) are not public.
import { BlockList, isIPv4, isIPv6 } from 'node:net'

function createBlockList(family: 'ipv4' | 'ipv6', subnets: string): BlockList {
  const list = new BlockList()
  for (const subnet of subnets.trim().split(/\s+/)) {
    const [network = '', prefix] = subnet.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}

// One list per family: node:net also compares an IPv4 address as ::ffff:0:0/96.
const notPublicV4 = createBlockList(
  'ipv4',
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 168.63.129.16/32 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`,
)
const globalV6 = createBlockList('ipv6', '2000::/3')
const notPublicV6 = createBlockList('ipv6', '2001::/23 2001:db8::/32 2002::/16 3fff::/20')

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublicV4.check(address, 'ipv4')
  // With a zone (fe80::1%eth0) it is link-local.
  if (!isIPv6(address) || address.includes('%')) return false
  return globalV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6')
}
