/** The next round number that is not below one, easily halved: 2, 4, 6, 8 or 10 with zeros. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const ten = 10 ** (Math.ceil(Math.log10(value)) - 1);
  return ten * ([2, 4, 6, 8].find((n) => n * ten >= value) ?? 10);
}
