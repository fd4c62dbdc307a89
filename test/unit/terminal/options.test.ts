import { describe, expect, it } from 'vitest';
import { readOptions } from '../../../local/options.ts';

describe('flags of npm start', () => {
  it('has defaults', () => {
    expect(readOptions([])).toEqual({
      fleet: null,
      fresh: false,
      memory: false,
      data: '.data',
      port: 8787,
      agents: true,
      speed: 1,
      exitWhenDone: false,
      adminKeyFile: null,
      report: null,
      virtualClock: null,
    });
  });

  it('reads every flag', () => {
    const args =
      '--fleet f --fresh --port 0 --no-agents --speed 10 --exit-when-done --admin-key-file k --report r --virtual-clock 2026-03-01T00:00:00Z --data d';
    expect(readOptions(args.split(' '))).toEqual({
      fleet: 'f',
      fresh: true,
      memory: false,
      data: 'd',
      port: 0,
      agents: false,
      speed: 10,
      exitWhenDone: true,
      adminKeyFile: 'k',
      report: 'r',
      virtualClock: Date.UTC(2026, 2, 1),
    });
  });

  it.each([
    [['--prot', '1'], "unknown option '--prot'"],
    [['--port', 'x'], 'whole number from 0 to 65535'],
    [['--port', '65536'], 'whole number from 0 to 65535'],
    [['--port'], 'argument missing'],
    [['--speed', '0'], 'a number above 0'],
    [['--speed', 'fast'], 'a number above 0'],
    [['--virtual-clock', '2026-03-01'], 'a time with an offset'],
    [['--virtual-clock', '2026-13-01T00:00:00Z'], 'a time with an offset'],
    [['--memory', '--fresh'], 'leave one of them out'],
    [['fleet.yaml'], 'too many arguments'],
  ])('refuses %j with 2 and says why', (args, words) => {
    const answer = readOptions(args);
    expect(answer).toMatchObject({ exitCode: 2, text: expect.stringContaining(words) });
  });

  it('shows its help', () => {
    expect(readOptions(['--help'])).toMatchObject({ exitCode: 0, text: expect.stringContaining('--exit-when-done') });
  });
});
