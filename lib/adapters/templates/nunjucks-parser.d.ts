/** The parts of nunjucks that are not in its published types. */
declare module 'nunjucks/src/lexer.js' {
  export interface Token {
    readonly type: string;
    readonly value: unknown;
    readonly lineno: number;
  }
  export interface Tokenizer {
    /** Where the next token begins in the text. */
    readonly index: number;
    readonly lineno: number;
    nextToken(): Token | null;
  }
  const lexer: { lex(text: string): Tokenizer };
  export default lexer;
}

declare module 'nunjucks/src/parser.js' {
  const parser: { Parser: new (tokens: object) => { parseAsRoot(): unknown } };
  export default parser;
}
