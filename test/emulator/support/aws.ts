import type { Running } from './target.ts';

/**
 * The account of the caller's own credentials, stage dev. Whatever is deployed there under that name is used and stays; never run by CI. It costs
 * cents, and `npx cdk destroy --all` takes it away again.
 */
export async function startAws(): Promise<Running> {
  const { AWS_REGION: region, CDK_DEFAULT_ACCOUNT: account, CI } = process.env;
  if (CI === '1' || CI === 'true') throw new Error('--target aws is for people: it deploys into a real account.');
  if (!region || !account) throw new Error('Set AWS_REGION and CDK_DEFAULT_ACCOUNT to where stage dev may be deployed, and sign in.');
  return {
    env: { AWS_REGION: region, STAGE: 'dev' },
    account,
    apiBase: (url) => url.replace(/\/$/, ''),
    stop: async () => undefined,
  };
}
