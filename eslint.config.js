import tseslint from 'typescript-eslint';

/** Folders that know no clock, no randomness, no IO and no promises. */
const PURE = ['raft', 'stream', 'mirror', 'election', 'replica', 'origin'].map(
  (folder) => `src/${folder}/**/*.ts`,
);

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'out/', 'node_modules/', '.lockstep/'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
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
    rules: {
      'no-restricted-globals': [
        'error',
        ...['Date', 'performance', 'process', 'console', 'Promise', 'queueMicrotask'],
        ...['setTimeout', 'setInterval', 'setImmediate'],
      ],
      'no-restricted-properties': ['error', { object: 'Math', property: 'random' }],
      'no-restricted-imports': ['error', { patterns: ['node:*'] }],
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
