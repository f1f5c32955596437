package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.fields.FieldTable;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.gateway.fields.RequestRoute;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedModel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Reads the bodies of requests that sample.
 *
 * @param fresh random numbers, for the id and the seed of a request without them
 */
public record CompletionRequestReader(
    ServedModel served, List<String> adapters, LongSupplier fresh) {
  private static final int MOST_CHOICES = 4096;
  private static final int DEFAULT_INTERVAL_MS = 20;
  private static final int DEFAULT_TOKENS = 16;

  /**
   * Reads a request for completions of prompts.
   *
   * @throws HttpErrorException if a field is wrong or not offered; the error names the field
   */
  public CompletionRequest prompts(JsonNode body) throws HttpErrorException {
    check(RequestRoute.COMPLETIONS, body);
    String model = model(body);
    PromptAnswer ofPrompt = ofPrompt(body);
    int wanted = ofPrompt.only() ? 0 : limit(body, DEFAULT_TOKENS);
    PromptReader reader =
        new PromptReader(
            served,
            PromptCut.of(body, Math.max(0, served.contextLength() - wanted)),
            body.path("add_special_tokens").asBoolean(true));
    List<int[]> prompts = reader.prompts(body.path("prompt"));
    return request(body, model, prompts, Optional.empty());
  }

  /**
   * Reads a request for the next message of a conversation.
   *
   * @param turn the conversation, whose fields are checked already
   * @throws HttpErrorException if a field is wrong; the error names the field
   */
  public CompletionRequest chat(JsonNode body, AskedTurn turn) throws HttpErrorException {
    int wanted = Math.max(1, turn.request().maxTokens());
    int[] ids = PromptCut.of(body, Math.max(0, served.contextLength() - wanted)).of(turn.ids(), 0);
    return request(body, sampler(turn.request()), List.of(ids), Optional.of(turn));
  }

  /** The model or the adapter that answers a conversation, which may call it by any name. */
  public String sampler(TurnRequest turn) {
    return adapters.contains(turn.model()) ? turn.model() : served.model();
  }

  private CompletionRequest request(
      JsonNode body, String model, List<int[]> prompts, Optional<AskedTurn> turn)
      throws HttpErrorException {
    int completions = body.path("n").asInt(1);
    if ((long) completions * prompts.size() > MOST_CHOICES) {
      throw HttpErrorException.bad(
          "n",
          "%d prompts of %d completions exceed %d"
              .formatted(prompts.size(), completions, MOST_CHOICES));
    }
    PromptAnswer ofPrompt = ofPrompt(body);
    int longest = 0;
    for (int[] prompt : prompts) {
      new PromptReader(served, PromptCut.of(body, 0), false)
          .check(prompt, ofPrompt.only() ? served.contextLength() : served.contextLength() - 1);
      longest = Math.max(longest, prompt.length);
    }
    int room = ofPrompt.only() ? 1 : served.contextLength() - longest;
    int wanted =
        ofPrompt.only() ? 1 : turn.isPresent() ? room : Math.min(room, limit(body, DEFAULT_TOKENS));
    SamplingSettings plain = SamplingFields.settings(body, wanted);
    SamplingSettings settings =
        turn.isPresent()
            ? within(plain, turn.get().request())
            : plain.within(0, SamplingFields.stops(body.path("stop")));
    return new CompletionRequest(
        model,
        turn.map(asked -> asked.request().model()).filter(name -> !name.isEmpty()).orElse(model),
        new SamplingJob(id(body), prompts, completions, settings, seed(body)),
        form(body, turn.isPresent()),
        ofPrompt,
        turn);
  }

  /**
   * Reads what an agent's request wants sampled; its conversation is encoded already.
   *
   * @throws IllegalArgumentException if the engine does not know a sampling setting
   */
  public SamplingJob turn(JsonNode body, AskedTurn turn) {
    SamplingSettings plain =
        SamplingFields.settings(body, served.contextLength() - turn.ids().length);
    return new SamplingJob(
        id(body), List.of(turn.ids()), 1, within(plain, turn.request()), seed(body));
  }

  /** The settings of an answer to a conversation: its turn ends as the template ends it. */
  private SamplingSettings within(SamplingSettings plain, TurnRequest turn) {
    return plain
        .within(turn.maxTokens(), served.codec().stops(turn))
        .stoppingAt(served.codec().stopIds(turn));
  }

  private static int limit(JsonNode body, int absent) throws HttpErrorException {
    int limit = body.path("max_tokens").asInt(absent);
    if (limit < 1) {
      throw HttpErrorException.bad(
          "max_tokens", "max_tokens is 1 or more, or 0 with echo or prompt_logprobs");
    }
    return limit;
  }

  /**
   * Holds a body against the fields of a route.
   *
   * @throws HttpErrorException if a field is wrong or not offered; the error names the field
   */
  public static void check(RequestRoute route, JsonNode body) throws HttpErrorException {
    try {
      FieldTable.check(route, RequestReader.SERVER, body);
    } catch (MalformedTurnException malformed) {
      throw HttpErrorException.bad(malformed.parameter(), String.valueOf(malformed.getMessage()));
    }
  }

  private String id(JsonNode body) {
    return body.path("request_id").asText("r-" + Long.toHexString(fresh.getAsLong()));
  }

  private long seed(JsonNode body) {
    return body.path("seed").asLong(fresh.getAsLong());
  }

  private static AnswerForm form(JsonNode body, boolean chat) throws HttpErrorException {
    Duration interval =
        Duration.ofMillis(body.path("stream_interval_ms").asInt(DEFAULT_INTERVAL_MS));
    boolean stream = body.path("stream").asBoolean(false);
    boolean usage = body.path("stream_options").path("include_usage").asBoolean(false);
    return new AnswerForm(
        chat,
        Optional.of(new AnswerForm.Streaming(interval, usage)).filter(_ -> stream),
        body.path("detokenize").asBoolean(true),
        logProbs(body, chat),
        body.path("return_token_ids").asBoolean(false),
        body.path("return_tokens_as_token_ids").asBoolean(false),
        body.path("include_stop_str_in_output").asBoolean(false));
  }

  private static PromptAnswer ofPrompt(JsonNode body) throws HttpErrorException {
    boolean scored = body.hasNonNull("prompt_logprobs");
    boolean echo = body.path("echo").asBoolean(false);
    if (echo && (scored || body.path("stream").asBoolean(false))) {
      throw HttpErrorException.bad(
          "echo", "echo goes with neither a conversation, stream nor prompt_logprobs");
    }
    return new PromptAnswer(
        scored,
        echo,
        body.path(echo ? "logprobs" : "prompt_logprobs").asInt(0),
        (scored || echo) && body.path("max_tokens").asInt(1) == 0);
  }

  private String model(JsonNode body) throws HttpErrorException {
    String model = body.path("model").asText("");
    if (!model.isEmpty() && !model.equals(served.model()) && !adapters.contains(model)) {
      throw HttpErrorException.of(
          404,
          "NotFoundError",
          "the model `%s` does not exist; this server serves `%s`%s"
              .formatted(
                  model,
                  served.model(),
                  adapters.isEmpty() ? "" : " and the adapters " + adapters));
    }
    return model.isEmpty() ? served.model() : model;
  }

  private static boolean logProbs(JsonNode body, boolean chat) throws HttpErrorException {
    JsonNode node = body.path("logprobs");
    if (!chat && node.asInt(0) != 0 && !body.path("echo").asBoolean(false)) {
      throw HttpErrorException.bad(
          "logprobs",
          "only the log-probability of the sampled token is returned: send 0, or echo for those of"
              + " the prompt");
    }
    return chat ? node.asBoolean(false) : node.isNumber();
  }
}
