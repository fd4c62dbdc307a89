/**
 * Stands in the bundles for the SDK's `@aws-sdk/credential-provider-node`: a function gets its credentials in its environment and nowhere else, and need
 * not carry the clients that look for them in profiles, single sign-on and metadata services (a sixth of a bundle).
 */
export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = process.env;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error('There are no AWS credentials in the environment of this function.');
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
};
