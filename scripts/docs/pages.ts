import { openApi } from '../../lib/http/openapi.ts';
import { costPage } from './cost.ts';
import { dataModelPage } from './data-model.ts';
import { stateMachinesPage } from './state-machines.ts';

/** The generated pages: path from the root → what it must contain. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/cost.md': costPage,
  'docs/data-model.md': dataModelPage,
  'docs/state-machines.md': stateMachinesPage,
  'openapi/openapi.json': () => `${JSON.stringify(openApi(), null, 2)}\n`,
};
