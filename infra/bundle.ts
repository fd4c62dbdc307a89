import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(ROOT, 'dist/functions');

/** One function, ready to be uploaded. */
export interface Bundle {
  readonly folder: string;
  /** Bytes of the minified code, without its source map. */
  readonly bytes: number;
}

/** Some packages are CommonJS and ask for Node's own modules with `require`, which a module does not have. A name that no minifier gives. */
const REQUIRE = "import{createRequire as requireFrom__}from'node:module';const require=requireFrom__(import.meta.url);";

/** The entry points are the folders of `functions/`. */
export const functionNames = (): string[] =>
  readdirSync(join(ROOT, 'functions'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/**
 * Every function as one minified ES module with its source map, by one run of esbuild: no Docker, no network, a second or two. The SDK is
 * bundled, so that what was tested runs. The same sources give the same bytes, wherever the repository lies.
 */
export function bundleFunctions(): Readonly<Record<string, Bundle>> {
  const { outputFiles } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: functionNames().map((name) => ({ in: `functions/${name}/handler.ts`, out: `${name}/index` })),
    outdir: OUT,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'lib/lambda/credentials.ts') },
    banner: { js: REQUIRE },
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    write: false,
  });
  for (const file of outputFiles) writeWhole(file.path, file.contents);
  const modules = outputFiles.filter((file) => file.path.endsWith('.mjs'));
  return Object.fromEntries(
    modules.map((file) => [relative(OUT, dirname(file.path)), { folder: dirname(file.path), bytes: file.contents.length }]),
  );
}

/** Somebody else may be reading: a file changes as a whole or not at all. */
function writeWhole(path: string, contents: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  if (isSame(path, contents)) return;
  // Not in its own folder, which is uploaded as it is.
  const fresh = join(OUT, `.${process.pid}`);
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}

function isSame(path: string, contents: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(contents);
  } catch {
    return false;
  }
}
