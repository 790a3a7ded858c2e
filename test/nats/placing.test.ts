/** Servers that have just met: a stream is asked for again until it finds its place. */
import { expect, it } from 'vitest';
import { LockstepError } from '../../src/base/errors.js';
import { placed, untilPlaceable } from '../../src/nats/placing.js';
import { resolveSettings } from '../../src/nats/settings.js';

function refusal(apiError: number, status: number): LockstepError {
  return new LockstepError('originRefused', 'refused', { apiError, status });
}

/** Refuses the first times, one by one, and counts. */
function refusing(...refusals: readonly LockstepError[]): () => Promise<void> {
  let asked = 0;
  return () => {
    const refused = refusals[asked++];
    return refused === undefined ? Promise.resolve() : Promise.reject(refused);
  };
}

it.each([
  ['no suitable peers', refusal(10_005, 400)],
  ['a leader that is away', refusal(10_008, 503)],
  ['no answer', new LockstepError('timeout', 'no answer')],
])('%s: asked again', async (title, refused) => {
  await expect(placed(refusing(refused, refused)), title).resolves.toBeUndefined();
});

it('refused for a reason that stays: at once, as the server said it', async () => {
  const inUse = refusal(10_058, 400);
  await expect(placed(refusing(inUse))).rejects.toBe(inUse);
});

it('servers of ours that cannot be reached are no matter of usage', async () => {
  const nobody = resolveSettings({ servers: ['nats://127.0.0.1:1'], noContext: true }, {});
  await expect(untilPlaceable(nobody, 3)).rejects.toMatchObject({ code: 'harness' });
});

it('a signal ends the asking', async () => {
  const ended = AbortSignal.abort();
  await expect(placed(refusing(), ended)).rejects.toMatchObject({ code: 'interrupted' });
});
