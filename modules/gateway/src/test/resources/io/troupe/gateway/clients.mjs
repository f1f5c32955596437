// Unmodified SDKs of OpenAI and Anthropic, each an agent with one tool. Usage: clients.mjs CLIENT
import { createRequire } from 'node:module';
const require = createRequire(process.env.NODE_MODULES + '/');
const client = process.argv[2];
const task = 'Run echo hello and finish.';
const schema = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
const run = (name, args) => {
  if (name !== 'shell' || JSON.parse(args).command !== 'echo hello') throw new Error(name + args);
  return 'hello';
};

async function chat(stream) {
  const { default: OpenAI } = require('openai');
  const openai = new OpenAI();
  const tools = [{ type: 'function', function: { name: 'shell', description: 'd', parameters: schema } }];
  const messages = [{ role: 'user', content: task }];
  for (;;) {
    const body = { model: 'gpt-5', messages, tools };
    const answer = stream
      ? await openai.chat.completions.stream(body).finalChatCompletion()
      : await openai.chat.completions.create(body);
    const message = answer.choices[0].message;
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls) {
      const content = run(call.function.name, call.function.arguments);
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}

async function responses(stream) {
  const { default: OpenAI } = require('openai');
  const openai = new OpenAI();
  const tools = [{ type: 'function', name: 'shell', description: 'd', parameters: schema, strict: false }];
  const input = [{ role: 'user', content: task }];
  for (;;) {
    const body = { model: 'gpt-5', instructions: 'Be brief.', input, tools, store: false };
    const answer = stream
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body);
    input.push(...answer.output);
    const calls = answer.output.filter(item => item.type === 'function_call');
    if (!calls.length) return answer.output_text;
    for (const call of calls) {
      input.push({ type: 'function_call_output', call_id: call.call_id, output: run(call.name, call.arguments) });
    }
  }
}

async function messages(stream) {
  const { default: Anthropic } = require('@anthropic-ai/sdk');
  const anthropic = new Anthropic();
  const tools = [{ name: 'shell', description: 'd', input_schema: schema }];
  const messages = [{ role: 'user', content: task }];
  for (;;) {
    const body = { model: 'claude-sonnet-4-5', max_tokens: 1024, system: 'Be brief.', messages, tools };
    const { input_tokens } = await anthropic.messages.countTokens({ model: body.model, messages, tools });
    if (!(input_tokens > 0)) throw new Error('no tokens');
    const answer = stream
      ? await anthropic.messages.stream(body).finalMessage()
      : await anthropic.messages.create(body);
    messages.push({ role: 'assistant', content: answer.content });
    const calls = answer.content.filter(block => block.type === 'tool_use');
    if (!calls.length) return answer.content[0].text;
    const content = calls.map(call => (
      { type: 'tool_result', tool_use_id: call.id, content: run(call.name, JSON.stringify(call.input)) }));
    messages.push({ role: 'user', content });
  }
}

const [kind, how] = client.split('-');
console.log(await { chat, responses, messages }[kind](how === 'stream'));
