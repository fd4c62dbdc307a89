import { RUN_TRANSITIONS, TERMINAL_RUN } from '../../lib/domain/action-run/transitions.ts';
import { ITEM_TRANSITIONS, TERMINAL_ITEM } from '../../lib/domain/item/transitions.ts';
import { ROLLOUT_STATUSES } from '../../lib/domain/operator/rollout-status.ts';
import { HOLD_CODES } from '../../lib/domain/shared/rollout.ts';
import type { Transition } from '../../lib/domain/shared/state-machine.ts';
import { TERMINAL_WAVE, WAVE_TRANSITIONS } from '../../lib/domain/wave/transitions.ts';
import { code, table } from './markdown.ts';

interface Machine {
  readonly title: string;
  readonly about: string;
  readonly file: string;
  readonly start: string;
  readonly terminal: readonly string[];
  readonly transitions: readonly Transition[];
}

const MACHINES: readonly Machine[] = [
  {
    title: 'Wave',
    about: 'Blocked is sticky: only a person leaves it. In a cancelled wave a retry runs the retried items and nothing else.',
    file: 'lib/domain/wave/transitions.ts',
    start: 'active',
    terminal: TERMINAL_WAVE,
    transitions: WAVE_TRANSITIONS,
  },
  {
    title: 'Item',
    about:
      'Pending, in progress and retrying are the active ones: at most one item of a block is in one of them. An item may also be born skipped.',
    file: 'lib/domain/item/transitions.ts',
    start: 'pending',
    terminal: TERMINAL_ITEM,
    transitions: ITEM_TRANSITIONS,
  },
  {
    title: 'Run (one attempt)',
    about: 'A late or doubled message to an ended run changes nothing; a retry is a new run.',
    file: 'lib/domain/action-run/transitions.ts',
    start: 'pending',
    terminal: TERMINAL_RUN,
    transitions: RUN_TRANSITIONS,
  },
];

/** Parallel transitions share one arrow. */
function diagram({ start, terminal, transitions }: Machine): string {
  const arrows = new Map<string, string[]>();
  for (const { from, event, to } of transitions) {
    const arrow = `${from} --> ${to}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
  }
  const lines = [
    `[*] --> ${start}`,
    ...[...arrows].map(([arrow, events]) => `${arrow}: ${events.join(' / ')}`),
    ...terminal.map((state) => `${state} --> [*]`),
  ];
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n');
}

function section(machine: Machine): string {
  const states = [...new Set([machine.start, ...machine.transitions.flatMap((t) => [t.from, t.to])])];
  const rows = states.map((state) => [
    code(state) + (machine.terminal.includes(state) ? ' (terminal)' : ''),
    machine.transitions
      .filter((t) => t.from === state)
      .map((t) => `${code(t.event)} → ${code(t.to)}`)
      .join('<br>'),
  ]);
  return `## ${machine.title}\n\n${machine.about} Table: [${machine.file}](../${machine.file}).\n\n${diagram(machine)}\n\n${table(['state', 'what may happen'], rows)}`;
}

const PREFACE = `# State machines

Each is a table in the code: what is not listed is refused with the events that would be possible. A terminal state is left only by an explicit decision of a person.
`;

/** Lists of codes whose order is part of the rule. */
const LISTS = `## Holds

Why an item does not start now; a read of an item names all that apply, in this order: ${HOLD_CODES.map(code).join(', ')}.

## Rollout status of a cluster

The first that applies: ${ROLLOUT_STATUSES.map(code).join(', ')}.
`;

/** docs/state-machines.md, from the transition tables that the program runs on. */
export function stateMachinesPage(): string {
  return [PREFACE, ...MACHINES.map(section), LISTS].join('\n');
}
