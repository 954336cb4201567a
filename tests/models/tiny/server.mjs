// A server of OpenAI's chat protocol over node-llama-cpp: node server.mjs MODEL.gguf [PORT]
// KBENCH_NODE_MODULES names the folder of the packages (../servers/README.md). One request at a
// time on one thread, each from an empty context, so that equal requests get equal answers.
import http from "node:http";
import path from "node:path";
import {pathToFileURL} from "node:url";

const folder = process.env.KBENCH_NODE_MODULES ?? "node_modules";
const load = (file) => import(pathToFileURL(path.resolve(folder, file)));
const {getLlama, LlamaCompletion} = await load("node-llama-cpp/dist/index.js");
const {Template} = await load("@huggingface/jinja/dist/index.js");

const [file, port = "0"] = process.argv.slice(2);
const llama = await getLlama({gpu: false, build: "never", skipDownload: true, maxThreads: 1});
const model = await llama.loadModel({modelPath: path.resolve(file)});
const context = await model.createContext({contextSize: model.trainContextSize, threads: 1});
const sequence = context.getSequence();
const completion = new LlamaCompletion({contextSequence: sequence});
const template = new Template(model.fileInfo.metadata.tokenizer.chat_template);
const name = path.basename(file, ".gguf");

async function answer(ask, signal, onTextChunk) {
  const text = template.render({messages: ask.messages, add_generation_prompt: true});
  const prompt = model.tokenize(text, true);
  const room = context.contextSize - prompt.length - 1;
  if (room < 1) {
    throw Object.assign(new Error("the prompt is too long"), {code: "context_length_exceeded"});
  }
  await sequence.clearHistory();
  let tokens = 0;
  const {response, metadata} = await completion.generateCompletionWithMeta(prompt, {
    signal, onTextChunk, onToken: (these) => { tokens += these.length; },
    maxTokens: Math.min(ask.max_tokens ?? ask.max_completion_tokens ?? room, room),
    temperature: ask.temperature ?? 1, topP: ask.top_p ?? 1, topK: 0, minP: 0, seed: ask.seed,
    repeatPenalty: false, disableContextShift: true,
  });
  const usage = {prompt_tokens: prompt.length, completion_tokens: tokens,
                 total_tokens: prompt.length + tokens};
  return {response, usage, finish_reason: metadata.stopReason === "maxTokens" ? "length" : "stop"};
}

async function chat(body, res, signal) {
  const ask = JSON.parse(body);
  const reply = (object, choice, usage) => JSON.stringify(
    {id: "tiny", object, created: 0, model: name, choices: [{index: 0, ...choice}], usage});
  const event = (delta, finish_reason = null, usage) =>
    res.write(`data: ${reply("chat.completion.chunk", {delta, finish_reason}, usage)}\n\n`);
  const said = await answer(ask, signal, ask.stream ? (content) => {
    if (!res.headersSent) res.writeHead(200, {"content-type": "text/event-stream"});
    event({content});
  } : undefined);
  if (!ask.stream) {
    const message = {role: "assistant", content: said.response};
    res.writeHead(200, {"content-type": "application/json"});
    const choice = {message, finish_reason: said.finish_reason};
    return res.end(reply("chat.completion", choice, said.usage));
  }
  if (!res.headersSent) res.writeHead(200, {"content-type": "text/event-stream"});
  event({}, said.finish_reason, said.usage);
  res.end("data: [DONE]\n\n");
}

let last = Promise.resolve();  // the request before
const server = http.createServer(async (req, res) => {
  const body = (await req.toArray()).join("");
  const gone = new AbortController();
  res.on("close", () => gone.abort());
  const fail = (status, e) => {
    if (!res.headersSent) res.writeHead(status, {"content-type": "application/json"});
    res.end(JSON.stringify({error: {message: e.message, code: e.code ?? null}}));
  };
  if (req.url === "/v1/models") {
    return res.end(JSON.stringify({object: "list", data: [{id: name, object: "model"}]}));
  }
  if (req.url !== "/v1/chat/completions") return fail(404, new Error("no such address"));
  last = last.then(() => chat(body, res, gone.signal)).catch((e) => fail(400, e));
});
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`${name} listens on http://127.0.0.1:${server.address().port}/v1`));
