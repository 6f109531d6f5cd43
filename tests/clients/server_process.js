// Starts the built luce-spark on a free port and ends it again.
import { spawn } from "node:child_process";
import { once } from "node:events";

/** The program under test: LUCE_PROGRAM, as the runner sets it. */
export const program = process.env.LUCE_PROGRAM;

export async function startServer(options = []) {
  const child = spawn(program, ["serve", "--port", "0", "--metrics-port", "0", ...options], {
    stdio: ["ignore", "inherit", "pipe"],
  });
  let log = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (bytes) => {
      log += bytes;
      const ready = log.match(/ready: (http:\/\/127\.0\.0\.1:\d+)/);
      if (ready) resolve(ready[1]);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${log}`)));
  });
  return {
    url,
    baseURL: `${url}/v1`,
    log: () => log,
    async stop() {
      child.removeAllListeners("exit");
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      const [code] = await ended;
      return code;
    },
  };
}
