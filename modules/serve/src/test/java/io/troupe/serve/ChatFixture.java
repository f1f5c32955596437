package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.toy.ScriptedEngine;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.gateway.dialog.TemplateFormats;
import io.troupe.serve.model.ServedModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** A policy with a chat template behind a server, whose prompts can be read. */
final class ChatFixture implements AutoCloseable {
  /** ChatML with Qwen3's choice of thinking, in short. */
  static final String QWEN =
      """
      {%- if tools %}<|im_start|>system
      {% for tool in tools %}{{ tool | tojson }}
      {% endfor %}<|im_end|>
      {% endif %}
      {%- for m in messages %}
      {%- if m.role == 'tool' %}<|im_start|>user
      <tool_response>
      {{ m.content }}
      </tool_response><|im_end|>
      {% else %}<|im_start|>{{ m.role }}
      {{ m.content }}
      {%- for call in m.tool_calls %}
      <tool_call>
      {"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
      </tool_call>
      {%- endfor %}<|im_end|>
      {% endif %}
      {%- endfor %}
      {%- if add_generation_prompt %}<|im_start|>assistant
      {% if enable_thinking is defined and not enable_thinking %}<think>

      </think>

      {% endif %}{% endif %}\
      """;

  /** Llama 3, in short: it writes the begin of the text itself, and never thinks. */
  static final String LLAMA =
      """
      {{ '<s>' }}{% for m in messages %}<|im_start|>{{ m.role }}

      {{ m.content | trim }}<|im_end|>{% endfor %}\
      {% if add_generation_prompt %}<|im_start|>assistant

      {% endif %}\
      """;

  /** A tokenizer of characters that begins texts with a token of its own. */
  record StartTokenizer() implements Tokenizer {
    private static final List<String> SPECIAL = List.of("<|im_end|>", "<s>", "<|im_start|>");
    private static final int FIRST = 10;

    @Override
    public int[] encode(String text) {
      return text.chars().map(each -> each + FIRST).toArray();
    }

    @Override
    public int[] encodeWithSpecial(String text) {
      IntStream.Builder ids = IntStream.builder();
      int at = 0;
      while (at < text.length()) {
        int from = at;
        int special =
            IntStream.range(0, SPECIAL.size())
                .filter(id -> text.startsWith(SPECIAL.get(id), from))
                .findFirst()
                .orElse(-1);
        ids.add(special >= 0 ? special : text.charAt(at) + FIRST);
        at += special >= 0 ? SPECIAL.get(special).length() : 1;
      }
      return ids.build().toArray();
    }

    @Override
    public String textStart() {
      return "<s>";
    }

    @Override
    public String decode(int[] tokens) {
      StringBuilder text = new StringBuilder();
      IntStream.of(tokens)
          .filter(each -> each >= FIRST)
          .forEach(each -> text.append((char) (each - FIRST)));
      return text.toString();
    }

    /** The text with special tokens. */
    static String spelled(int[] tokens) {
      StringBuilder text = new StringBuilder();
      for (int token : tokens) {
        text.append(token < FIRST ? SPECIAL.get(token) : String.valueOf((char) (token - FIRST)));
      }
      return text.toString();
    }

    @Override
    public byte[] bytes(int token) {
      return decode(new int[] {token}).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public int vocabularySize() {
      return FIRST + Character.MAX_VALUE;
    }

    @Override
    public int endOfSequence() {
      return 0;
    }

    @Override
    public Set<Integer> endIds() {
      return Set.of(0);
    }
  }

  private static final StartTokenizer TOKENIZER = new StartTokenizer();

  private final HttpClient client = HttpClient.newHttpClient();
  final ScriptedEngine engine;
  private final PolicyServer server;

  private ChatFixture(ScriptedEngine engine, PolicyServer server) {
    this.engine = engine;
    this.server = server;
  }

  /**
   * Serves a policy.
   *
   * @param answers the answer to each context
   */
  static ChatFixture of(String template, Thinking thinking, UnaryOperator<String> answers)
      throws IOException {
    ChatTemplate found =
        thinking
            .in(Optional.of(JinjaChatTemplate.of(template, Map.of(), Clock.systemUTC())))
            .orElseThrow();
    ScriptedEngine engine = new ScriptedEngine(TOKENIZER, answers);
    PolicyServer server =
        PolicyServer.start(
            new ServedModel(
                "policy",
                engine,
                TOKENIZER,
                4096,
                TemplateFormats.conversation(TOKENIZER, found),
                ServedModel.withoutScorer()),
            ServeSettings.loopback(0),
            "test");
    try (ToyPolicy toy = ToyFixture.policy(Duration.ZERO)) {
      server.use(ToyFixture.weights(toy, 0));
    }
    return new ChatFixture(engine, server);
  }

  HttpResponse<String> post(String path, String body) throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d%s".formatted(server.port(), path)))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.replace('\'', '"')))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** The answer to a request that is not refused. */
  JsonNode json(String path, String body) throws Exception {
    HttpResponse<String> response = post(path, body);
    if (response.statusCode() != 200) {
      throw new AssertionError(response.body());
    }
    return JsonFields.parse(response.body());
  }

  /** The prompt that a request makes, with special tokens. */
  String asked(String path, String body) throws Exception {
    JsonNode _ = json(path, body);
    return StartTokenizer.spelled(engine.requests().getLast().prompt());
  }

  @Override
  public void close() {
    server.close();
    client.close();
  }
}
