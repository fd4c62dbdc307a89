import { type Budget, isList, isMap, MAX_TEXT, TemplateError, type Value } from './values.ts';

const MAX_DEPTH = 100;

export interface JsonStyle {
  readonly sorted: boolean;
  text(value: string): string;
}

const escaped = (value: string, signs: RegExp): string =>
  JSON.stringify(value).replace(signs, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Jinja2's own: keys sorted, ASCII only, and the signs that HTML knows as escapes. Read back it is the same value. */
export const JINJA: JsonStyle = { sorted: true, text: (value) => escaped(value, /[<>&'\u007f-\uffff]/g) };

/** JSON is YAML: one line, every text in quotes. Signs that some reader takes for a line break are escaped. */
export const YAML: JsonStyle = {
  sorted: false,
  text: (value) => escaped(value, /[\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/g),
};

export function jsonOf(value: Value, style: JsonStyle, budget: Budget, line: number): string {
  const parts: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    length += text.length;
    if (length > MAX_TEXT) throw new TemplateError(line, 'a value gets longer than 256 KiB as JSON');
    parts.push(text);
  };
  const write = (part: Value, depth: number): void => {
    budget.spend(1, line);
    if (depth > MAX_DEPTH) throw new TemplateError(line, 'a value is nested too deeply for JSON');
    if (typeof part === 'string') add(style.text(part));
    else if (isList(part)) sequence('[', ']', part, (item) => write(item, depth + 1));
    else if (isMap(part)) {
      const keys = style.sorted ? Object.keys(part).sort() : Object.keys(part);
      sequence('{', '}', keys, (key) => {
        add(`${style.text(key)}: `);
        write(part[key] ?? null, depth + 1);
      });
    } else add(JSON.stringify(part));
  };
  const sequence = <T>(open: string, close: string, items: readonly T[], each: (item: T) => void): void => {
    add(open);
    for (const [index, item] of items.entries()) {
      if (index > 0) add(', ');
      each(item);
    }
    add(close);
  };
  write(value, 0);
  return budget.made(parts.join(''), line);
}
