/** How a file looks: widths, heights, leftovers, names that say nothing. */
import ts from 'typescript';
import { parse, placeOf, visit, type SourceFile } from './source.js';

const COLUMNS_MAX = 100;
/** A test's title is one literal: nothing can break it. */
const TEST_COLUMNS_MAX = 120;
const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const LEFTOVER = new RegExp(
  `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`,
);
const DRAWER = /(^|[/_-])(utils?|helpers?|common|managers?)([/._-]|$)/i;

/** Of every file: lines too long, leftovers, names of drawers. */
export function textFaults({ path, text }: SourceFile): string[] {
  const faults: string[] = [];
  const most = /^(test|bench)\//.test(path) ? TEST_COLUMNS_MAX : COLUMNS_MAX;
  text.split('\n').forEach((line, at) => {
    // Code points, as an editor counts columns; length would count some characters twice.
    const columns = line.length <= most ? line.length : Array.from(line).length;
    if (columns > most) faults.push(`${path}:${at + 1}: ${columns} columns`);
    if (LEFTOVER.test(line)) faults.push(`${path}:${at + 1}: a leftover`);
  });
  if (DRAWER.test(path)) faults.push(`${path}: a drawer, name what it does`);
  return faults;
}

/** Of the product: files and functions too long, files that do not say what they are for. */
export function shapeFaults(file: SourceFile): string[] {
  const faults: string[] = [];
  const lines = linesOf(file.text.trimEnd());
  if (lines > FILE_LINES_MAX) faults.push(`${file.path}: ${lines} lines`);
  if (!/^(#!.*\n)?\/\*\*/.test(file.text)) {
    faults.push(`${file.path}: does not say what it is for`);
  }
  visit(parse(file), (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    const height = linesOf(node.getText());
    if (height > FUNCTION_LINES_MAX) {
      faults.push(`${placeOf(file, node)}: a function of ${height} lines`);
    }
  });
  return faults;
}

function linesOf(text: string): number {
  return text.split('\n').length;
}
