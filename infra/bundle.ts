import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(ROOT, 'dist/functions');

/** One function, ready to be uploaded. */
export interface Bundle {
  readonly folder: string;
  /** Bytes of the minified code, without its source map. */
  readonly bytes: number;
}

export type Bundles = Readonly<Record<string, Bundle>>;

/** Some packages are CommonJS and ask for Node's own modules with `require`, which a module does not have. A name that no minifier gives. */
const REQUIRE = "import{createRequire as requireFrom__}from'node:module';const require=requireFrom__(import.meta.url);";

/**
 * The SDK's clients describe each of their operations and errors in a form that no bundler may drop, called or not. Marked as pure, what is not called
 * goes. Lambda's client has a class for each of its forty errors besides: without them an error has the same name and message, and nobody asks for
 * its class (a test says so). Together a tenth of a bundle.
 */
const unusedOperations: Plugin = {
  name: 'unused-operations',
  setup: ({ onLoad }) =>
    onLoad({ filter: /@aws-sdk[\\/]client-\w+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const marked = text.replaceAll(
        /^export var (\w+\$) = (\[(?:9|-3), n0, [\s\S]*?^\]);$/gm,
        'export var $1 = /* @__PURE__ */ (() => $2)();',
      );
      return { contents: path.includes('client-lambda') ? marked.replaceAll(/^n0_registry\.registerError\(.*\);$/gm, '') : marked };
    }),
};

/** The entry points are the folders of `functions/`. */
export const functionNames = (): string[] =>
  readdirSync(join(ROOT, 'functions'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/**
 * Every function as one minified ES module with its source map, by one run of esbuild: no Docker, no network, a second or two. The SDK is
 * bundled, so that what was tested runs. The same sources give the same bytes, wherever the repository lies.
 */
export async function bundleFunctions(): Promise<Bundles> {
  const { outputFiles } = await build({
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
    alias: {
      '@aws-sdk/credential-provider-node': join(ROOT, 'lib/lambda/credentials.ts'),
      // The same code as ES modules, of which only what is used goes along.
      yaml: join(ROOT, 'node_modules/yaml/browser/index.js'),
    },
    plugins: [unusedOperations],
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
