/** A point in time: whole milliseconds since 1970-01-01T00:00:00Z. The domain never asks for it, it is always handed in. */
export type Instant = number;

/** A length of time in milliseconds. */
export type Millis = number;

export const SECOND: Millis = 1_000;
export const MINUTE: Millis = 60 * SECOND;
export const HOUR: Millis = 60 * MINUTE;
export const DAY: Millis = 24 * HOUR;
/** Of 365 days: for what is said of times, not for reckoning with them. */
export const YEAR: Millis = 365 * DAY;

/** 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z: what ISO 8601 writes with four digits of year, hence what the wire can carry. */
export const FIRST_INSTANT: Instant = -62_167_219_200_000;
export const LAST_INSTANT: Instant = 253_402_300_799_999;
