import { stringify } from 'yaml';

export const OPERATOR_NAMESPACE = 'polycrate-operator-system';
const SECRET_NAME = 'polycrate-operator-token';

export interface ManifestFacts {
  readonly key: string;
  readonly api_url: string;
  readonly key_name: string;
}

/** SPEC §6: ready to apply with `kubectl apply -f -`: the token and the operator's configuration that refers to it. */
export function agentManifest({ key, api_url, key_name }: ManifestFacts): string {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET_NAME, namespace: OPERATOR_NAMESPACE, annotations: { 'polycrate.io/agent-key': key_name } },
    type: 'Opaque',
    stringData: { token: key },
  };
  const config = {
    apiVersion: 'polycrate.io/v1alpha1',
    kind: 'OperatorConfig',
    metadata: { name: 'polycrate-operator', namespace: OPERATOR_NAMESPACE },
    spec: { api: { url: api_url, enabled: true }, credentials_ref: { secret_name: SECRET_NAME, token_key: 'token' } },
  };
  return [secret, config].map((document) => stringify(document, { lineWidth: 0 })).join('---\n');
}
