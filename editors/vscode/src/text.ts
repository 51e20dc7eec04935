/** Texts compared. Knows no editor. */

/** Lengths of what two texts share at both ends, never within a surrogate pair. */
export function shared(old: string, now: string): { head: number; tail: number } {
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) {
    head += 1;
  }
  if (head > 0 && isHigh(old.charCodeAt(head - 1))) {
    head -= 1;
  }
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) {
    tail += 1;
  }
  if (tail > 0 && isLow(old.charCodeAt(old.length - tail))) {
    tail -= 1;
  }
  return { head, tail };
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
