package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.IncrementalText;
import io.troupe.engine.Scorer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.serve.model.ServedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/** Writes the answer to one request, as a whole or as the messages of a stream. */
public final class CompletionWriter {
  private static final String CONTENT = "content";
  private static final String REASONING = "reasoning_content";
  private static final String FINISH = "finish_reason";

  private final CompletionRequest request;
  private final long created;
  private final Tokenizer tokenizer;
  private final LongFunction<String> tags;
  private final List<IncrementalText> texts = new ArrayList<>();
  private final List<GrowingAnswer> answers = new ArrayList<>();
  private final int[] sent;
  private int tokens;

  /**
   * A writer for one request.
   *
   * @param created seconds since 1970
   * @param tags the name of each weight version
   */
  public CompletionWriter(
      CompletionRequest request, ServedModel served, long created, LongFunction<String> tags) {
    this.request = request;
    this.created = created;
    this.tokenizer = served.tokenizer();
    this.tags = tags;
    this.sent = new int[request.job().choices()];
    for (int i = 0; i < request.job().choices(); i++) {
      texts.add(
          new IncrementalText(
              tokenizer, request.job().settings().stops(), request.form().keepStop()));
      request
          .turn()
          .map(asked -> served.conversation().answering(asked.request()))
          .ifPresent(conversation -> answers.add(new GrowingAnswer(conversation)));
    }
  }

  /** Tokens written so far. */
  public int tokens() {
    return tokens;
  }

  /** The first message of a stream: who speaks. */
  public ObjectNode begin() {
    ObjectNode json = head("chat.completion.chunk");
    ArrayNode choices = json.putArray("choices");
    for (int i = 0; i < request.job().choices(); i++) {
      ObjectNode choice = choices.addObject().put("index", i);
      choice.putObject("delta").put("role", "assistant").put(CONTENT, "");
      choice.putNull("logprobs").putNull(FINISH);
    }
    return json;
  }

  /** One message of a stream. */
  public ObjectNode chunk(List<TokenDelta> deltas) {
    ObjectNode json = head(request.form().chat() ? "chat.completion.chunk" : "text_completion");
    ArrayNode choices = json.putArray("choices");
    for (TokenDelta delta : deltas) {
      ObjectNode choice = choices.addObject();
      boolean first = sent[delta.choice()]++ == 0;
      boolean last = !delta.finish().isEmpty();
      String text = text(delta, last);
      choice.put("index", delta.choice());
      if (request.form().chat()) {
        message(choice.putObject("delta"), delta, text, last);
      } else {
        choice.put("text", text);
      }
      fill(choice, delta, first);
    }
    return json;
  }

  /** The whole answer. */
  public ObjectNode whole(List<TokenDelta> deltas, List<Scorer.Scores> scores) {
    ObjectNode json = head(request.form().chat() ? "chat.completion" : "text_completion");
    ArrayNode choices = json.putArray("choices");
    for (TokenDelta delta : deltas) {
      ObjectNode choice = choices.addObject();
      String text = text(delta, true);
      choice.put("index", delta.choice());
      if (request.form().chat()) {
        message(choice.putObject("message").put("role", "assistant"), delta, text, true);
      } else {
        choice.put("text", text);
      }
      fill(choice, delta, true);
      if (request.ofPrompt().logProbs()) {
        choice.set(
            "prompt_logprobs",
            scored(request.job().prompt(delta.choice()), scores.get(prompt(delta.choice()))));
      }
      if (request.ofPrompt().echo()) {
        echo(choice, delta, scores);
      }
    }
    json.set("usage", usage());
    return json;
  }

  private void message(ObjectNode message, TokenDelta delta, String text, boolean last) {
    ParsedAnswer news = answers.get(delta.choice()).news(text, last);
    message.put(CONTENT, news.content());
    if (!news.reasoning().isEmpty()) {
      message.put(REASONING, news.reasoning());
    }
  }

  /** Puts the prompt before the completion, in the text and in the log-probabilities. */
  private void echo(ObjectNode choice, TokenDelta delta, List<Scorer.Scores> scores) {
    int[] prompt = request.job().prompt(delta.choice());
    if (request.form().text()) {
      choice.put("text", tokenizer.decode(prompt) + choice.path("text").textValue());
    }
    if (request.form().logProbs()) {
      EchoedLogProbs echoed = new EchoedLogProbs(this::name, request.ofPrompt().likeliest());
      echoed.addPrompt(prompt, scores.get(prompt(delta.choice())));
      echoed.addSampled(delta, request.job().settings().temperature() == 0);
      choice.set("logprobs", echoed.json());
    }
  }

  private int prompt(int choice) {
    return choice / request.job().completions();
  }

  /** The whole answer to a request that samples nothing. */
  public ObjectNode scores(List<Scorer.Scores> scores) {
    List<TokenDelta> nothing = new ArrayList<>();
    for (int choice = 0; choice < request.job().choices(); choice++) {
      nothing.add(new TokenDelta(choice, 0, new int[0], new float[0], new long[0], "length"));
    }
    return whole(nothing, scores);
  }

  /** The counts, as the last message of a stream. */
  public ObjectNode counts() {
    ObjectNode json = head(request.form().chat() ? "chat.completion.chunk" : "text_completion");
    json.putArray("choices");
    json.set("usage", usage());
    return json;
  }

  private String text(TokenDelta delta, boolean last) {
    return request.form().text() ? texts.get(delta.choice()).add(delta.tokens(), last) : "";
  }

  private ObjectNode head(String object) {
    return JsonFields.object()
        .put("id", (request.form().chat() ? "chatcmpl-" : "cmpl-") + request.job().id())
        .put("object", object)
        .put("created", created)
        .put("model", request.name());
  }

  private ObjectNode usage() {
    return JsonFields.object()
        .put("prompt_tokens", request.job().promptTokens())
        .put("completion_tokens", tokens)
        .put("total_tokens", request.job().promptTokens() + tokens);
  }

  private void fill(ObjectNode choice, TokenDelta delta, boolean first) {
    tokens += delta.tokens().length;
    if (delta.finish().isEmpty()) {
      choice.putNull(FINISH);
    } else {
      choice.put(FINISH, delta.finish());
    }
    if (request.form().logProbs()) {
      choice.set("logprobs", request.form().chat() ? chatLogProbs(delta) : logProbs(delta));
    } else {
      choice.putNull("logprobs");
    }
    if (request.form().tokenIds()) {
      ArrayNode ids = choice.putArray("token_ids");
      for (int token : delta.tokens()) {
        ids.add(token);
      }
      if (first) {
        ArrayNode prompt = choice.putArray("prompt_token_ids");
        for (int token : request.job().prompt(delta.choice())) {
          prompt.add(token);
        }
      }
    }
    spans(choice.putArray("weight_versions"), delta);
  }

  private void spans(ArrayNode spans, TokenDelta delta) {
    long[] versions = delta.versions();
    int start = 0;
    for (int i = 1; i <= versions.length; i++) {
      if (i == versions.length || versions[i] != versions[start]) {
        spans
            .addObject()
            .put("version", tags.apply(versions[start]))
            .put("start", delta.from() + start)
            .put("end", delta.from() + i);
        start = i;
      }
    }
  }

  private ObjectNode logProbs(TokenDelta delta) {
    ObjectNode json = JsonFields.object();
    if (request.form().text()) {
      ArrayNode names = json.putArray("tokens");
      for (int token : delta.tokens()) {
        names.add(name(token));
      }
    }
    ArrayNode numbers = json.putArray("token_logprobs");
    for (float logProb : delta.logProbs()) {
      numbers.add(logProb);
    }
    return json;
  }

  private ObjectNode chatLogProbs(TokenDelta delta) {
    ObjectNode json = JsonFields.object();
    ArrayNode content = json.putArray("content");
    for (int i = 0; i < delta.tokens().length; i++) {
      ObjectNode token = content.addObject();
      token.put("token", name(delta.tokens()[i])).put("logprob", delta.logProbs()[i]);
      ArrayNode bytes = token.putArray("bytes");
      for (byte one : tokenizer.bytes(delta.tokens()[i])) {
        bytes.add(Byte.toUnsignedInt(one));
      }
      token.putArray("top_logprobs");
    }
    return json;
  }

  /**
   * Returns one entry for each token, with its own log-probability and those of the most likely
   * tokens.
   */
  private static ArrayNode scored(int[] prompt, Scorer.Scores scores) {
    ArrayNode json = JsonFields.object().putArray("scored");
    json.addNull();
    for (int i = 1; i < prompt.length; i++) {
      ObjectNode place = json.addObject();
      for (int k = 0; k < scores.likeliest().topK(); k++) {
        place
            .putObject(Integer.toString(scores.likeliest().ids()[i - 1][k]))
            .put("logprob", scores.likeliest().logProbs()[i - 1][k])
            .put("rank", k + 1);
      }
      String own = Integer.toString(prompt[i]);
      if (!place.has(own)) {
        place.putObject(own).put("logprob", scores.logProbs()[i - 1]).putNull("rank");
      }
    }
    return json;
  }

  private String name(int token) {
    return request.form().idsAsTokens() ? "token_id:" + token : tokenizer.decode(new int[] {token});
  }
}
