package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedModel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Reads the bodies of {@code /v1/completions} and {@code /v1/chat/completions}. */
public record CompletionRequestReader(ServedModel served, List<String> adapters) {
  private static final int MOST_CHOICES = 4096;
  private static final int MOST_LIKELIEST = 1_000;
  private static final int MOST_INTERVAL_MS = 10_000;
  private static final int DEFAULT_INTERVAL_MS = 20;
  private static final int DEFAULT_TOKENS = 16;

  /**
   * Reads a request.
   *
   * @param chat whether the prompt is a conversation
   * @param fresh random numbers, for the id and the seed of a request without them
   * @throws HttpErrorException if a field is wrong or not offered; the error names the field
   */
  public CompletionRequest read(JsonNode body, boolean chat, LongSupplier fresh)
      throws HttpErrorException {
    String model = model(body);
    SamplingFields.refuseUnsupported(body);
    PromptReader reader = new PromptReader(served);
    List<int[]> prompts =
        chat ? List.of(reader.conversation(body)) : reader.prompts(body.path("prompt"));
    int completions = NumberFields.integer(body, "n", 1, 1, MOST_CHOICES);
    if ((long) completions * prompts.size() > MOST_CHOICES) {
      throw HttpErrorException.bad(
          "n",
          "%d prompts of %d completions exceed %d"
              .formatted(prompts.size(), completions, MOST_CHOICES));
    }
    int longest = 0;
    PromptAnswer ofPrompt = ofPrompt(body, chat);
    for (int[] prompt : prompts) {
      reader.check(prompt, ofPrompt.only() ? served.contextLength() : served.contextLength() - 1);
      longest = Math.max(longest, prompt.length);
    }
    int room = served.contextLength() - longest;
    String limit =
        chat && body.hasNonNull("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
    int most =
        ofPrompt.only()
            ? 1
            : NumberFields.integer(body, limit, chat ? room : DEFAULT_TOKENS, 1, Integer.MAX_VALUE);
    AnswerForm form = form(body, chat);
    String id =
        body.path("request_id").isTextual() ? body.path("request_id").textValue() : newId(fresh);
    SamplingSettings settings =
        SamplingFields.settings(body, ofPrompt.only() ? 1 : Math.min(most, room));
    return new CompletionRequest(
        model,
        new SamplingJob(id, prompts, completions, settings, seed(body, fresh)),
        form,
        ofPrompt);
  }

  private static String newId(LongSupplier fresh) {
    return "r-" + Long.toHexString(fresh.getAsLong());
  }

  private static long seed(JsonNode body, LongSupplier fresh) throws HttpErrorException {
    return body.hasNonNull("seed") ? NumberFields.whole(body, "seed") : fresh.getAsLong();
  }

  private static AnswerForm form(JsonNode body, boolean chat) throws HttpErrorException {
    Duration interval =
        Duration.ofMillis(
            NumberFields.integer(
                body, "stream_interval_ms", DEFAULT_INTERVAL_MS, 0, MOST_INTERVAL_MS));
    boolean usage = body.path("stream_options").path("include_usage").asBoolean(false);
    return new AnswerForm(
        chat,
        Optional.of(new AnswerForm.Streaming(interval, usage))
            .filter(_ -> body.path("stream").asBoolean(false)),
        body.path("detokenize").asBoolean(true),
        logProbs(body, chat),
        body.path("return_token_ids").asBoolean(false),
        body.path("return_tokens_as_token_ids").asBoolean(false),
        body.path("include_stop_str_in_output").asBoolean(false));
  }

  private static PromptAnswer ofPrompt(JsonNode body, boolean chat) throws HttpErrorException {
    boolean scored = body.hasNonNull("prompt_logprobs");
    boolean echo = body.path("echo").asBoolean(false);
    if (echo && (chat || scored || body.path("stream").asBoolean(false))) {
      throw HttpErrorException.bad(
          "echo", "echo goes with neither a conversation, stream nor prompt_logprobs");
    }
    return new PromptAnswer(
        scored,
        echo,
        NumberFields.integer(body, echo ? "logprobs" : "prompt_logprobs", 0, 0, MOST_LIKELIEST),
        (scored || echo) && body.path("max_tokens").asInt(1) == 0);
  }

  /**
   * Reads what an agent's request wants sampled; the agent's conversation is encoded already.
   *
   * @param ids the token ids of the conversation
   * @throws HttpErrorException if a sampling setting is wrong
   */
  public SamplingJob turn(JsonNode body, TurnRequest turn, int[] ids, LongSupplier fresh)
      throws HttpErrorException {
    SamplingSettings settings =
        SamplingFields.settings(body, served.contextLength() - ids.length)
            .within(turn.maxTokens(), served.codec().stops(turn));
    return new SamplingJob(newId(fresh), List.of(ids), 1, settings, seed(body, fresh));
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
    boolean others = chat ? body.path("top_logprobs").asInt(0) != 0 : node.asInt(0) != 0;
    if (others && !body.path("echo").asBoolean(false)) {
      throw HttpErrorException.bad(
          chat ? "top_logprobs" : "logprobs",
          "only the log-probability of the sampled token is returned: send 0, or echo for those of"
              + " the prompt");
    }
    return chat ? node.asBoolean(false) : node.isNumber();
  }
}
