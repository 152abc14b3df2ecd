// Random numbers as functions of (seed, purpose, index), as in src/counterbc/data/draws.py: a hash
// of 64-bit integers, so that episodes here are those of Python.

const GOLDEN = 0x9e3779b97f4a7c15n, FIRST = 0xbf58476d1ce4e5b9n, SECOND = 0x94d049bb133111ebn;

// The first eight bytes of the BLAKE2b hash of each purpose.
const PURPOSES = {
  "intersection start": 0x8f83598ef152faeen,
  "intersection other": 0xa0a3ac2aeda1aa6bn,
  "cartpole start": 0xe0875180055dfb03n,
};

function word(x) { return BigInt.asUintN(64, x); }

function mix(x) {
  x = word((x ^ (x >> 30n)) * FIRST);
  x = word((x ^ (x >> 27n)) * SECOND);
  return x ^ (x >> 31n);
}

// `count` uniform numbers strictly between 0 and 1, with 23 random bits each.
export function uniform(seed, purpose, index, count) {
  const key = mix(mix(word(seed + GOLDEN)) ^ PURPOSES[purpose]);
  let row = mix(key ^ mix(word(BigInt(index) + GOLDEN)));
  return Array.from({ length: count }, () => {
    row = word(row + GOLDEN);
    return (Number(mix(row) >> 41n) + 0.5) * 2 ** -23;
  });
}
