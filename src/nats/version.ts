/** What servers of a version can do. */

/** From here on a server tells the consumers of mirrors. Upstream: monitor.go, JSzOptions. */
export const TELLS_MIRRORS = [2, 12] as const;

/** From here on a server tells its place in raft groups. Upstream: monitor.go, Raftz. */
export const TELLS_GROUPS = [2, 11] as const;

/** @param version  `2.15.2` */
export function isAtLeast(
  version: string,
  [major, minor]: readonly [major: number, minor: number],
): boolean {
  const [ofMajor = 0, ofMinor = 0] = version.split('.').map(Number);
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}
