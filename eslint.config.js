/** Lint: type-checked and strict everywhere; pure folders and what a seed repeats have bans. */
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Folders that know no clock, no randomness, no IO and no promises. */
const PURE = ['base', 'raft', 'stream', 'mirror', 'election', 'replica', 'origin'].map(
  (folder) => `src/${folder}/**/*.ts`,
);

const ASYNC = [
  { selector: 'AwaitExpression', message: 'Completions come back as inputs.' },
  { selector: ':function[async=true]', message: 'Completions come back as inputs.' },
  { selector: 'ForOfStatement[await=true]', message: 'Completions come back as inputs.' },
];

/** ECMA-262 leaves the last digits of these to the engine. */
const APPROXIMATE = ['log', 'log2', 'log10', 'log1p', 'exp', 'expm1', 'pow', 'sin', 'cos', 'tan'];
const DRIFT = [
  {
    selector: ':matches(BinaryExpression[operator="**"], AssignmentExpression[operator="**="])',
    message: 'Engines differ in it; multiply or shift.',
  },
];
const DRIFTING_MATH = APPROXIMATE.map((property) => ({
  object: 'Math',
  property,
  message: 'Engines differ in it.',
}));

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', 'out/', '.lockstep/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // A promise that nobody waits for loses its error; `void` says that its owner handles it.
      '@typescript-eslint/no-floating-promises': ['error', { checkThenables: true }],
      // Typed arrays under noUncheckedIndexedAccess are read with `!` where the index is known.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allow: [{ from: 'lib', name: 'BigInt' }] },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // `Member | 'best'` says what a string may be, even if the compiler cannot hold it.
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      '@typescript-eslint/prefer-readonly': 'error',
      // What comes from outside may be what its type denies; limits are checked although constant.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-confusing-non-null-assertion': 'off',
      eqeqeq: 'error',
    },
  },
  {
    files: PURE,
    ignores: ['src/base/hasher.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['Date', 'performance', 'process', 'console', 'Promise', 'queueMicrotask'],
        ...['setTimeout', 'setInterval', 'setImmediate', 'crypto', 'fetch', 'globalThis'],
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random' },
        ...DRIFTING_MATH,
      ],
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^[^.]', message: 'Pure folders import no package and no IO.' }] },
      ],
      'no-restricted-syntax': ['error', ...ASYNC, ...DRIFT],
    },
  },
  {
    files: ['src/sim/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random' },
        ...DRIFTING_MATH,
      ],
      'no-restricted-syntax': ['error', ...DRIFT],
    },
  },
  {
    files: ['test/**/*.ts', '*.config.ts'],
    rules: {
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  { files: ['**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
