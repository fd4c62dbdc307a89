import { run } from './processes.ts';
import { ROOT, type Running, Unavailable } from './target.ts';

const ENDPOINT = 'http://localhost:4566';

/** LocalStack from compose.yaml; needs Docker and LOCALSTACK_AUTH_TOKEN. */
export async function startLocalstack(): Promise<Running> {
  if (!process.env['LOCALSTACK_AUTH_TOKEN'])
    throw new Unavailable('LOCALSTACK_AUTH_TOKEN is not set; LocalStack does not start without one.');
  const options = { cwd: ROOT, env: process.env };
  await run('docker', ['info'], { ...options, seconds: 20 }).catch(() => {
    throw new Unavailable('Docker does not answer, and LocalStack runs in it.');
  });
  await run('docker', ['compose', 'up', '--detach', '--wait'], { ...options, seconds: 300 });
  return {
    env: {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_ENDPOINT_URL: ENDPOINT,
      AWS_ENDPOINT_URL_S3: 'http://s3.localhost.localstack.cloud:4566',
      AWS_REGION: 'us-east-1',
      STAGE: 'local',
    },
    account: '000000000000',
    apiBase: (url) => `http://${new URL(url).hostname.split('.')[0]}.execute-api.localhost.localstack.cloud:4566`,
    stop: async () => {
      await run('docker', ['compose', 'down', '--volumes'], { ...options, seconds: 60 });
    },
  };
}
