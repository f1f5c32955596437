package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.TurnRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Reads the body of {@code /v1/completions} and {@code /v1/chat/completions}. A field that would
 * change the sampling and that the engine does not support is refused, unless its value is the
 * engine's behaviour anyway. Other unknown fields are ignored, because clients send many.
 */
record CompletionRequestReader(ServedModel served, List<String> adapters) {
  private static final int MOST_CHOICES = 4096;
  private static final int MOST_LIKELIEST = 1_000;
  private static final int MOST_INTERVAL_MS = 10_000;
  private static final int DEFAULT_INTERVAL_MS = 20;
  private static final int DEFAULT_TOKENS = 16;
  private static final int MOST_STOPS = 1024;
  private static final int MOST_TEXT = 4096;
  private static final int MOST_ARGUMENTS = 64;

  CompletionRequest read(JsonNode body, boolean chat, LongSupplier fresh)
      throws HttpErrorException {
    String model = model(body);
    refuseUnsupportedFeatures(body);
    List<int[]> prompts = chat ? List.of(conversation(body)) : prompts(body.path("prompt"));
    int completions = integer(body, "n", 1, 1, MOST_CHOICES);
    if ((long) completions * prompts.size() > MOST_CHOICES) {
      throw HttpErrorException.bad(
          "n",
          "%d prompts of %d completions exceed %d"
              .formatted(prompts.size(), completions, MOST_CHOICES));
    }
    int longest = 0;
    PromptAnswer ofPrompt = ofPrompt(body, chat);
    for (int[] prompt : prompts) {
      check(prompt, ofPrompt.only() ? served.contextLength() : served.contextLength() - 1);
      longest = Math.max(longest, prompt.length);
    }
    int room = served.contextLength() - longest;
    String limit =
        chat && body.hasNonNull("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
    int most =
        ofPrompt.only()
            ? 1
            : integer(body, limit, chat ? room : DEFAULT_TOKENS, 1, Integer.MAX_VALUE);
    boolean logProbs = logProbs(body, chat);
    return new CompletionRequest(
        body.path("request_id").isTextual()
            ? body.path("request_id").textValue()
            : "r-" + Long.toHexString(fresh.getAsLong()),
        model,
        chat,
        prompts,
        completions,
        settings(body, ofPrompt.only() ? 1 : Math.min(most, room)),
        body.hasNonNull("seed") ? whole(body, "seed") : fresh.getAsLong(),
        body.path("stream").asBoolean(false),
        Duration.ofMillis(
            integer(body, "stream_interval_ms", DEFAULT_INTERVAL_MS, 0, MOST_INTERVAL_MS)),
        body.path("detokenize").asBoolean(true),
        logProbs,
        body.path("return_token_ids").asBoolean(false),
        body.path("return_tokens_as_token_ids").asBoolean(false),
        body.path("include_stop_str_in_output").asBoolean(false),
        body.path("stream_options").path("include_usage").asBoolean(false),
        ofPrompt);
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
        integer(body, echo ? "logprobs" : "prompt_logprobs", 0, 0, MOST_LIKELIEST),
        (scored || echo) && body.path("max_tokens").asInt(1) == 0);
  }

  /** Reads the sampling settings of an agent's request, whose conversation is encoded already. */
  CompletionRequest turn(JsonNode body, TurnRequest turn, int[] ids, LongSupplier fresh)
      throws HttpErrorException {
    SamplingSettings settings =
        settings(body, served.contextLength() - ids.length)
            .within(turn.maxTokens(), served.codec().stops(turn));
    return new CompletionRequest(
        "r-" + Long.toHexString(fresh.getAsLong()),
        adapters.contains(turn.model()) ? turn.model() : served.model(),
        true,
        List.of(ids),
        1,
        settings,
        body.hasNonNull("seed") ? whole(body, "seed") : fresh.getAsLong(),
        false,
        Duration.ZERO,
        false,
        false,
        false,
        false,
        false,
        false,
        new PromptAnswer(false, false, 0, false));
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

  private static void refuseUnsupportedFeatures(JsonNode body) throws HttpErrorException {
    for (String penalty : List.of("presence_penalty", "frequency_penalty")) {
      if (body.path(penalty).asDouble(0) != 0) {
        throw HttpErrorException.bad(
            penalty, penalty + " is not computed here; leave it out, or send 0");
      }
    }
    for (String flag : List.of("ignore_eos", "use_beam_search")) {
      if (body.path(flag).asBoolean(false)) {
        throw HttpErrorException.bad(flag, flag + " is not offered here; leave it out");
      }
    }
    for (String object : List.of("logit_bias", "guided_json", "structured_outputs")) {
      if (!body.path(object).isEmpty()) {
        throw HttpErrorException.bad(object, object + " is not offered here; leave it out");
      }
    }
    if (body.path("min_tokens").asInt(0) != 0 || body.path("best_of").asInt(1) > 1) {
      throw HttpErrorException.bad(
          "min_tokens", "min_tokens and best_of are not offered here; leave them out");
    }
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

  private static SamplingSettings settings(JsonNode body, int maxTokens) throws HttpErrorException {
    if (body.path("stop_token_ids").size() > MOST_STOPS) {
      throw HttpErrorException.bad(
          "stop_token_ids", "stop_token_ids has at most %d ids".formatted(MOST_STOPS));
    }
    Set<Integer> stopIds = new HashSet<>();
    for (JsonNode id : body.path("stop_token_ids")) {
      if (!id.canConvertToInt() || id.intValue() < 0) {
        throw HttpErrorException.bad("stop_token_ids", "stop_token_ids are ids, and one is " + id);
      }
      stopIds.add(id.intValue());
    }
    int topK = integer(body, "top_k", 0, -1, Integer.MAX_VALUE);
    try {
      return new SamplingSettings(
          number(body, "temperature", 1),
          number(body, "top_p", 1),
          Math.max(0, topK),
          number(body, "min_p", 0),
          number(body, "repetition_penalty", 1),
          maxTokens,
          stopIds,
          stops(body.path("stop")),
          false);
    } catch (IllegalArgumentException outOfRange) {
      throw HttpErrorException.of(400, "BadRequestError", String.valueOf(outOfRange.getMessage()));
    }
  }

  private static List<String> stops(JsonNode node) throws HttpErrorException {
    boolean longer = node.isTextual() && node.textValue().length() > MOST_TEXT;
    for (JsonNode stop : node) {
      longer |= stop.isTextual() && stop.textValue().length() > MOST_TEXT;
    }
    if (node.size() > MOST_STOPS || longer) {
      throw HttpErrorException.bad(
          "stop", "stop has at most %d texts of %d characters".formatted(MOST_STOPS, MOST_TEXT));
    }
    if (node.isTextual()) {
      return List.of(node.textValue());
    }
    List<String> stops = new ArrayList<>();
    for (JsonNode stop : node) {
      if (!stop.isTextual()) {
        throw HttpErrorException.bad(
            "stop", "stop is a text or a list of texts, not " + shown(node));
      }
      stops.add(stop.textValue());
    }
    return stops;
  }

  private List<int[]> prompts(JsonNode node) throws HttpErrorException {
    if (node.isTextual()) {
      return List.of(encode(node.textValue()));
    }
    if (!node.isArray() || node.isEmpty()) {
      throw HttpErrorException.bad(
          "prompt", "prompt is a text, a list of token ids, or a list of one of these");
    }
    if (node.path(0).isNumber()) {
      return List.of(ids(node));
    }
    List<int[]> prompts = new ArrayList<>();
    for (JsonNode one : node) {
      prompts.add(one.isTextual() ? encode(one.textValue()) : ids(one));
    }
    return prompts;
  }

  private static int[] ids(JsonNode array) throws HttpErrorException {
    int[] ids = new int[array.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = array.get(i);
      if (id == null || !id.isIntegralNumber() || !id.canConvertToInt()) {
        throw HttpErrorException.bad(
            "prompt", "token %d of the prompt is no id: %s".formatted(i, id));
      }
      ids[i] = id.intValue();
    }
    return ids;
  }

  private int[] encode(String text) throws HttpErrorException {
    try {
      return served.tokenizer().encodeWithSpecial(text);
    } catch (IllegalArgumentException foreign) {
      throw HttpErrorException.bad("prompt", String.valueOf(foreign.getMessage()));
    }
  }

  private void check(int[] prompt, int longest) throws HttpErrorException {
    if (prompt.length == 0) {
      throw HttpErrorException.bad("prompt", "a prompt has at least one token");
    }
    int size = served.tokenizer().vocabularySize();
    for (int i = 0; i < prompt.length; i++) {
      if (prompt[i] < 0 || prompt[i] >= size) {
        throw HttpErrorException.bad(
            "prompt",
            "token %d of the prompt is %d; ids lie in [0, %d]".formatted(i, prompt[i], size - 1));
      }
    }
    if (prompt.length > longest) {
      throw HttpErrorException.bad(
          "prompt",
          "the prompt has %d tokens, and the maximum context length is %d"
              .formatted(prompt.length, served.contextLength()));
    }
  }

  private int[] conversation(JsonNode body) throws HttpErrorException {
    List<ServedModel.ChatRenderer.ServedMessage> messages = new ArrayList<>();
    for (JsonNode message : body.path("messages")) {
      if (!message.path("role").isTextual() || !message.path("content").isTextual()) {
        throw HttpErrorException.bad(
            "messages", "a message has a role and a content, both texts: " + message);
      }
      messages.add(
          new ServedModel.ChatRenderer.ServedMessage(
              message.path("role").textValue(), message.path("content").textValue()));
    }
    if (messages.isEmpty()) {
      throw HttpErrorException.bad("messages", "messages is a list of at least one message");
    }
    if (body.path("chat_template_kwargs").size() > MOST_ARGUMENTS
        || body.path("chat_template_kwargs").toString().length() > MOST_TEXT) {
      throw HttpErrorException.bad(
          "chat_template_kwargs",
          "chat_template_kwargs has at most %d entries, and %d characters"
              .formatted(MOST_ARGUMENTS, MOST_TEXT));
    }
    Map<String, Object> arguments = new HashMap<>();
    body.path("chat_template_kwargs")
        .properties()
        .forEach(
            entry ->
                arguments.put(
                    entry.getKey(),
                    entry.getValue().isBoolean()
                        ? (Object) entry.getValue().booleanValue()
                        : entry.getValue().asText()));
    try {
      return encode(served.chat().render(messages, arguments));
    } catch (IllegalArgumentException refused) {
      throw HttpErrorException.bad("messages", String.valueOf(refused.getMessage()));
    }
  }

  private static String shown(JsonNode node) {
    return JsonFields.excerpt(node.toString());
  }

  private static int integer(JsonNode body, String name, int absent, int min, int max)
      throws HttpErrorException {
    if (!body.hasNonNull(name)) {
      return absent;
    }
    long value = whole(body, name);
    if (value < min || value > max) {
      throw HttpErrorException.bad(
          name, "%s lies in [%d, %d], and is %d".formatted(name, min, max, value));
    }
    return (int) value;
  }

  private static long whole(JsonNode body, String name) throws HttpErrorException {
    JsonNode node = body.path(name);
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw HttpErrorException.bad(name, "%s is a whole number, not %s".formatted(name, node));
    }
    return node.longValue();
  }

  private static double number(JsonNode body, String name, double absent)
      throws HttpErrorException {
    if (!body.hasNonNull(name)) {
      return absent;
    }
    if (!body.path(name).isNumber()) {
      throw HttpErrorException.bad(name, "%s is a number, not %s".formatted(name, body.path(name)));
    }
    return body.path(name).doubleValue();
  }
}
