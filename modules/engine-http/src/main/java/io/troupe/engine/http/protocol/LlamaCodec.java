package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * llama-server's {@code /completion}. By default its log-probabilities are computed from the raw
 * logits; {@code post_sampling_probs} makes them those of the sampled distribution.
 *
 * <p>llama-server does not return a token after which its text ends within a UTF-8 character, but
 * counts the token; {@link CompletionCheck} refuses a completion with such a token.
 *
 * <p>A request cannot name the ids that end a completion: llama-server samples past an end id that
 * is not its own, and {@link RawCompletion#firstTokens} drops the tokens after the first end id.
 */
final class LlamaCodec implements CompletionCodec {
  private static final long DRAWN_BY_THE_SERVER = 0xFFFF_FFFFL;

  @Override
  public String path() {
    return "/completion";
  }

  @Override
  public boolean takesStopIds() {
    return false;
  }

  @Override
  public ObjectNode body(GenerateRequest request, boolean stream) {
    SamplingSettings settings = request.settings();
    ObjectNode body = JsonFields.object();
    request.putPrompt(body, "prompt");
    body.put("n_predict", request.maxTokens())
        .put("stream", stream)
        .put("return_tokens", true)
        .put("n_probs", 1)
        .put("post_sampling_probs", true)
        .put("temperature", settings.temperature())
        .put("top_k", settings.topK())
        .put("top_p", settings.topP())
        .put("min_p", settings.minP())
        .put("repeat_penalty", settings.repetitionPenalty())
        .put("repeat_last_n", penalized(request))
        .put("presence_penalty", 0.0)
        .put("frequency_penalty", 0.0)
        .put("seed", seed(request.seed()))
        .put("cache_prompt", false)
        .put("ignore_eos", false);
    ArrayNode samplers = body.putArray("samplers");
    samplers.add("penalties").add("temperature").add("min_p").add("top_k").add("top_p");
    ArrayNode stops = body.putArray("stop");
    settings.stops().forEach(stops::add);
    return body;
  }

  /**
   * The number of tokens that a penalty covers, large enough for all; newer servers refuse -1,
   * which meant all.
   */
  private static int penalized(GenerateRequest request) {
    return request.settings().repetitionPenalty() == 1
        ? 0
        : request.prompt().length + request.maxTokens();
  }

  /** llama-server reads the lower 32 bits, and takes all ones for a random seed. */
  private static long seed(long seed) {
    long folded = Integer.toUnsignedLong((int) (seed ^ (seed >>> Integer.SIZE)));
    return folded == DRAWN_BY_THE_SERVER ? 0 : folded;
  }

  @Override
  public List<CompletionChunk> pieces(JsonNode message) throws MalformedResponseException {
    if (!message.has("tokens") && !message.has("content")) {
      throw new MalformedResponseException(
          "no tokens in " + JsonFields.excerpt(message.toString()));
    }
    JsonNode probabilities =
        message.has("completion_probabilities")
            ? message.path("completion_probabilities")
            : message.path("probs");
    List<Integer> tokens = new ArrayList<>();
    List<Double> logProbs = new ArrayList<>();
    for (JsonNode token : probabilities) {
      tokens.add(token.path("id").asInt(-1));
      double logProb = JsonFields.number(token.path("logprob"));
      logProbs.add(token.has("prob") ? Math.log(JsonFields.number(token.path("prob"))) : logProb);
    }
    int[] ids =
        message.path("tokens").isEmpty()
            ? tokens.stream().mapToInt(Integer::intValue).toArray()
            : JsonFields.ids(message.path("tokens"));
    boolean ended = message.path("stop").asBoolean(false);
    // The last message of a stream repeats the totals, without the tokens.
    double[] numbers = logProbs.stream().mapToDouble(Double::doubleValue).toArray();
    return List.of(
        new CompletionChunk(
            message.path("index").asInt(0),
            ids,
            Arrays.copyOf(numbers, numbers.length),
            List.of(),
            ended
                ? ServerFinishReason.of(message.path("stop_type").asText("none"))
                : ServerFinishReason.OPEN,
            new int[0],
            false,
            JsonFields.count(message.path("tokens_predicted")),
            ""));
  }
}
