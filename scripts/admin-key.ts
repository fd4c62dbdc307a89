// Makes the first administrator's key of a deployment, with the AWS credentials of whoever calls it: `npm run admin-key -- --table NAME`.
import { Command } from 'commander';
import { AppError } from '../lib/app/errors.ts';
import { makeFirstKey } from '../lib/app/keys/first-key.ts';
import { servicesOfTable } from '../lib/lambda/services.ts';

const options = new Command('npm run admin-key --')
  .description(
    "Makes the first administrator's key of a deployment and prints it, once. AWS credentials, region and AWS_ENDPOINT_URL as usual.",
  )
  .requiredOption('--table <name>', 'name of the table; the output TableName of the deployment')
  .option('--name <name>', 'what the key is called in lists', 'administrator')
  .option('--force', 'make one although there is one already', false)
  .showHelpAfterError()
  .parse()
  .opts<{ table: string; name: string; force: boolean }>();

/** What usually goes wrong with credentials, by the name of the error. */
const ADVICE: Readonly<Record<string, string>> = {
  CredentialsProviderError: 'There are no AWS credentials. Sign in first, e.g. with `aws sso login` and AWS_PROFILE.',
  ExpiredTokenException: 'The AWS credentials have expired. Sign in again.',
  UnrecognizedClientException: 'AWS does not know these credentials. Are they of the right account?',
  ResourceNotFoundException: `There is no table ${options.table} in this account and region. Deploy first; look at AWS_REGION.`,
  AccessDeniedException: `These credentials may not write to table ${options.table}.`,
};

function problemOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  const region = message.includes('Region is missing') ? 'There is no region. Set AWS_REGION.' : null;
  return region ?? `${ADVICE[name] ?? 'The key could not be made.'} (${name}: ${message})`;
}

try {
  const { key, record } = await makeFirstKey(servicesOfTable(options.table), options);
  process.stderr.write(`Key "${record.name}" (${record.prefix}…) may do everything. It is shown this once; keep it in a safe place.\n`);
  process.stdout.write(`${key}\n`);
} catch (error) {
  process.stderr.write(`${problemOf(error)}\n`);
  process.exitCode = 1;
}
