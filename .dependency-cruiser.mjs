// Who may import whom. `npm run check:boundaries` enforces it; the picture is in docs/architecture.md.

/** Anything that is not listed in `allowed` (a regular expression on resolved paths). */
const only = (name, comment, from, allowed) => ({ name, comment, severity: 'error', from: { path: from }, to: { pathNot: allowed } });
/** Anything that is listed in `forbidden`. */
const never = (name, comment, from, forbidden) => ({ name, comment, severity: 'error', from: { path: from }, to: { path: forbidden } });

const packages = (...names) => `^node_modules/(@types/)?(${names.join('|')})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Two files that need each other are one file or need a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'not-to-unresolvable',
      comment: 'The import does not lead anywhere: a typing mistake, or a package missing in package.json.',
      severity: 'error',
      from: {},
      // aws-lambda is types only (@types/aws-lambda): there is no package of that name to resolve, and tsc refuses what is not a type.
      to: { couldNotResolve: true, pathNot: '^aws-lambda$' },
    },
    {
      ...only(
        'domain-is-pure',
        'lib/domain decides and does nothing else: no I/O, no clock, no AWS, no zod, no contracts. Pass in what it needs.',
        '^lib/domain/',
        ['^lib/domain/', packages('semver', 'canonicalize', 'temporal-polyfill', 'temporal-spec')],
      ),
    },
    never(
      'app-knows-ports-only',
      'A use case talks to the outside through its ports; mapping to and from the API happens in lib/http.',
      '^lib/app/',
      '^(lib/(adapters|http|lambda)|functions|infra|local|cli|web)/',
    ),
    {
      name: 'app-knows-no-api',
      comment:
        'The API may change without the use cases. The fleet file is the exception: its rollout_configs are written in the fields of the API.',
      severity: 'error',
      from: { path: '^lib/app/', pathNot: '^lib/app/import/' },
      to: { path: '^lib/contracts/api/' },
    },
    only('contracts-are-leaves', 'Wire formats import zod and each other only, so that any client can use them.', '^lib/contracts/', [
      '^lib/contracts/',
      packages('zod'),
    ]),
    never(
      'adapters-implement-ports',
      'An adapter knows ports, errors, the domain and wire formats; it is below HTTP and the entry points.',
      '^lib/adapters/',
      '^(lib/(http|lambda|contracts/api)|functions|infra|local|cli|web)/',
    ),
    {
      name: 'adapters-call-no-use-case',
      comment:
        'An adapter may name any type of lib/app, but runs nothing of it: only ports, errors, the records that it stores and the one reader of YAML.',
      severity: 'error',
      from: { path: '^lib/adapters/' },
      to: {
        path: '^lib/app/',
        pathNot: ['/(ports|errors)\\.ts$', '^lib/app/(agents/presence|engine/enqueue-run|yaml/strict-yaml)\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'adapters-keep-to-themselves',
      comment: 'What two adapters share belongs into a port or into lib/domain.',
      severity: 'error',
      from: { path: '^lib/adapters/([^/]+)/' },
      to: { path: '^lib/adapters/', pathNot: '^lib/adapters/$1/' },
    },
    never(
      'program-stands-alone',
      'lib and functions run on AWS: they never import the local runtime, the infrastructure or a client.',
      '^(lib|functions)/',
      '^((infra|local|cli|web)/|node_modules/(aws-cdk-lib|constructs)/)',
    ),
    {
      name: 'sdk-only-in-adapters',
      comment: 'One place speaks to AWS; everything else speaks to a port.',
      severity: 'error',
      from: { pathNot: '^(lib/adapters|local|test)/' },
      to: { path: '^node_modules/(@aws-sdk|@smithy)/' },
    },
    never(
      'http-below-functions',
      'lib/http and lib/lambda are below functions and get their services passed in.',
      '^lib/http/',
      '^(functions|lib/lambda|lib/adapters)/',
    ),
    never('handlers-are-thin', 'A function reads its event and calls one use case; it decides nothing.', '^functions/', '^lib/domain/'),
    never(
      'infra-does-not-run',
      'The infrastructure sees the workflow files and the telemetry names, never the program.',
      '^infra/',
      '^(lib/(domain|app|adapters|http|lambda|contracts/api)|functions|local|cli|web)/',
    ),
    never('clients-speak-the-contract', 'Web page and CLI are HTTP clients like any other.', '^(cli|web)/', [
      '^lib/(?!contracts/api/)',
      '^(functions|infra|local)/',
    ]),
    {
      name: 'no-test-in-product',
      comment: 'Nothing that ships imports a test or its helpers.',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: ['^test/', packages('vitest', 'fast-check', 'aws-sdk-client-mock')] },
    },
    {
      name: 'no-dev-dependency-in-product',
      comment: 'What runs in production is in dependencies.',
      severity: 'error',
      from: { path: '^(lib|functions|cli|web)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(node_modules/.*/node_modules|cdk\\.out|dist|\\.data)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
};
