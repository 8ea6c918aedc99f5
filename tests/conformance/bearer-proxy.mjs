// The conformance suite cannot send a bearer token, and the daemon serves nothing without one. This
// proxy listens on loopback, adds the token, and passes everything else through as it is.
//
//   node bearer-proxy.mjs http://127.0.0.1:PORT TOKEN_FILE
//
// It prints its own address as its first line and runs until it is killed.
import { readFileSync } from "node:fs";
import http from "node:http";

const [target, tokenFile] = process.argv.slice(2);
const { hostname, port } = new URL(target);
const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;

const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization };
  const options = { hostname, port, path: request.url, method: request.method, headers };
  const onward = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
});

proxy.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${proxy.address().port}`));
