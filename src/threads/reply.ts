/** Control calls answer with data: comlink would drop the code and the class of what they throw. */
import { toErrorData, type Reply } from '../base/errors.js';

/** Runs a control call; what it throws becomes the error of its reply. */
export function answer<T>(call: () => T): Reply<T> {
  try {
    return { ok: true, value: call() };
  } catch (error) {
    return { ok: false, error: toErrorData(error) };
  }
}

/** As answer, of a call that takes its time. */
export async function answerLater<T>(call: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    return { ok: false, error: toErrorData(error) };
  }
}
