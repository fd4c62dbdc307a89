import { slotsOf } from '../wave/slots.ts';

/**
 * SPEC §5: how many clusters may run the operator's update at once: the floor of the percentage of the active clusters that
 * are not paused, at least 1 when the percentage is positive, none when it is 0.
 */
export function gatePlaces(activeUnpausedClusters: number, percent: number): number {
  return slotsOf(activeUnpausedClusters, percent);
}
