declare module 'asl-validator' {
  export default function aslValidator(
    definition: unknown,
    options?: { readonly checkPaths?: boolean; readonly checkArn?: boolean },
  ): { readonly isValid: boolean; errorsText(separator?: string): string };
}
