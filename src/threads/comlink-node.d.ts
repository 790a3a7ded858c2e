/** comlink ships this adapter without types for its .mjs file. */
declare module "comlink/dist/esm/node-adapter.mjs" {
  import type { Endpoint } from "comlink";

  interface NodeEndpoint {
    postMessage(message: unknown, transfer?: never): void;
    on(type: string, listener: (...args: never[]) => void): unknown;
    off(type: string, listener: (...args: never[]) => void): unknown;
    start?: () => void;
  }
  export default function nodeEndpoint(port: NodeEndpoint): Endpoint;
}
