/** A bar of a chart, in its units: where it stands and how tall it is, from the top. */
export interface Bar {
  key: string;
  of: number;
  x: number;
  y: number;
  height: number;
}

/** Room for bars. */
export interface Room {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The next round number that is not below one, easily halved: 2, 4, 6, 8 or 10 with zeros. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const ten = 10 ** (Math.ceil(Math.log10(value)) - 1);
  return ten * ([2, 4, 6, 8].find((n) => n * ten >= value) ?? 10);
}

/** Stacks the values of each column upon each other, the first at the bottom; those that are 0 have no bar. */
export function stack(columns: readonly (readonly number[])[], most: number, room: Room): Bar[] {
  const wide = (room.right - room.left) / Math.max(columns.length, 1);
  const scale = (room.bottom - room.top) / most;
  return columns.flatMap((values, column) => {
    let below = room.bottom;
    return values.flatMap((value, of) => {
      if (value <= 0) return [];
      const height = value * scale;
      below -= height;
      return [{ key: `${column}-${of}`, of, x: room.left + column * wide, y: below, height }];
    });
  });
}
