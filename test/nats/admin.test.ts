/** What is asked of a server's API to change a stream, against answers that are made by hand. */
import type { NatsConnection } from 'nats';
import { expect, it } from 'vitest';
import { JetStreamAdmin } from '../../src/nats/admin.js';
import { resolveSettings } from '../../src/nats/settings.js';

function answering(answer: object): JetStreamAdmin {
  const connection = { request: () => Promise.resolve({ json: () => answer }) };
  const settings = resolveSettings({ noContext: true }, {});
  return new JetStreamAdmin(connection as unknown as NatsConnection, settings);
}

function refusing(err_code: number, description: string): JetStreamAdmin {
  return answering({ error: { code: 500, err_code, description } });
}

it('a message is deleted, or was gone already', async () => {
  await expect(answering({ success: true }).deleteMessage('S', 1)).resolves.toBeUndefined();
  const gone = refusing(10_057, 'no message found');
  await expect(gone.deleteMessage('S', 1)).resolves.toBeUndefined();
});

it('a message is not deleted: told, with what the server said', async () => {
  const busy = refusing(10_008, 'JetStream system temporarily unavailable');
  await expect(busy.deleteMessage('S', 1)).rejects.toMatchObject({
    code: 'originRefused',
    message: '$JS.API.STREAM.MSG.DELETE.S: JetStream system temporarily unavailable (10008)',
  });
});
