import { readFileSync } from 'node:fs';
import { answerTurns, permissions, startWorker } from '../../lib/adapters/templates/render-worker.ts';

/** A render worker that a template has got hold of: it does what the template's text says. */

export const startEvilWorker = () => startWorker(import.meta.filename, [...permissions(), `--allow-fs-read=${import.meta.filename}`]);

const kept: string[] = [];

function attempt(deed: () => unknown): string {
  try {
    return `did it: ${String(deed())}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const DEEDS: Readonly<Record<string, () => string>> = {
  loop: () => {
    for (;;);
  },
  pattern: () => String(/^(a+)+$/.test(`${'a'.repeat(60)}b`)),
  memory: () => {
    const all: unknown[] = [];
    for (;;) all.push(new Array(1_000).fill(1.5));
  },
  // Harmless by itself; a few of them together are too much.
  leak: () => {
    for (let n = 0; n < 100; n++) kept.push(Buffer.alloc(100_000, `${kept.length} `).toString('latin1'));
    return 'leaked';
  },
  exit: () => process.exit(0),
  environment: () => Object.keys(process.env).join(),
  files: () => attempt(() => readFileSync('/proc/self/environ')),
  data: () => attempt(() => readFileSync('.data/admin-key')),
  write: () => attempt(() => process.getBuiltinModule('node:fs').writeFileSync('/tmp/x', '')),
  child: () => attempt(() => process.getBuiltinModule('node:child_process').execSync('id')),
  worker: () => attempt(() => new (process.getBuiltinModule('node:worker_threads').Worker)('1', { eval: true })),
  program: () => attempt(() => new Function('return 1')()),
};

if (process.send !== undefined && process.argv[1] === import.meta.filename)
  answerTurns((request, place) => {
    const template = request.templates[request.jobs[place]?.template ?? -1] ?? '';
    return { ok: true, value: DEEDS[template]?.() ?? template };
  });
