/** The seasons of a store: how busy a day and an hour are, against an ordinary one. */

export const dayMs = 86_400_000;

/** From Sunday: people order on Sunday evening, and go out on Friday. */
const weekdays = [1.35, 1.1, 0.95, 0.92, 0.95, 0.8, 0.93];

/** By the hour of the customer's day. */
export const hours: readonly number[] = [
  8, 4, 2, 1, 1, 2, 6, 16, 28, 38, 44, 46, 50, 46, 42, 42, 46, 54, 64, 78, 90, 80, 50, 22,
];

const growth = { first: 0.65, last: 1.35 };

/** The Friday after the fourth Thursday of November. */
export function blackFriday(year: number): number {
  const firstWeekday = new Date(Date.UTC(year, 10, 1)).getUTCDay();
  const firstThursday = 1 + ((4 - firstWeekday + 7) % 7);
  return Date.UTC(year, 10, firstThursday + 21 + 1);
}

/** How many visits a day has, against an ordinary day without growth. @param ms midnight of the day, UTC. */
export function seasonOf(ms: number): number {
  const date = new Date(ms);
  const weekday = weekdays[date.getUTCDay()] ?? 1;
  return weekday * yearly(date) * saleOf(ms);
}

function yearly(date: Date): number {
  const [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()];
  if (month === 12) return december(day);
  if (month === 1) return day <= 14 ? 1.2 : 1;
  if (month === 5 && day <= 14) return 1.15;
  if (month === 7 || month === 8) return 0.72;
  return month >= 10 ? 1.2 : 1;
}

function december(day: number): number {
  if (day <= 18) return 1.5 + day / 30;
  if (day <= 23) return 1.2;
  return day <= 26 ? 0.4 : 0.8;
}

/** Black Friday to Cyber Monday. */
export function saleOf(ms: number): number {
  const days = Math.floor((ms - blackFriday(new Date(ms).getUTCFullYear())) / dayMs);
  return [3.2, 2.3, 2, 2.8][days] ?? 1;
}

/**
 * Shares a number of visits out over days, by season and growth. No chance is in it, so that a small store has seasons.
 * @param start midnight of the first day, UTC.
 * @returns visits of each day; they sum to `total`.
 */
export function visitsByDay(start: number, days: number, total: number): number[] {
  const weights = Array.from({ length: days }, (_none, day) => {
    const trend = growth.first + ((growth.last - growth.first) * day) / Math.max(1, days - 1);
    return seasonOf(start + day * dayMs) * trend;
  });
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let [reached, given] = [0, 0];
  return weights.map((weight, day) => {
    reached += weight;
    const until = day === days - 1 ? total : Math.floor((total * reached) / sum);
    const visits = until - given;
    given = until;
    return visits;
  });
}

/** How far the clocks of a place are ahead of UTC on a day, in milliseconds. @param midnight of the day, UTC. */
export function clockAhead(midnight: number, timezone: string): number {
  return Temporal.Instant.fromEpochMilliseconds(midnight).toZonedDateTimeISO(timezone).offsetNanoseconds / 1_000_000;
}
