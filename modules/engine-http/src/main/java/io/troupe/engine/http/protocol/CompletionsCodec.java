package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code /v1/completions} with token ids in and out, as vLLM defines them beyond OpenAI's fields.
 * Troupe's own server uses this protocol too, and samples a group in one request.
 */
final class CompletionsCodec implements CompletionCodec {
  private static final String TOKEN_ID = "token_id:";

  private final boolean ours;

  CompletionsCodec(boolean ours) {
    this.ours = ours;
  }

  @Override
  public String path() {
    return "/v1/completions";
  }

  @Override
  public boolean generatesGroups() {
    return ours;
  }

  @Override
  public ObjectNode body(GenerateRequest request, boolean stream) {
    ObjectNode body = JsonFields.object();
    body.put("model", request.sampler());
    request.putPrompt(body, "prompt");
    body.put("max_tokens", request.maxTokens()).put("n", request.completions());
    request.putSampling(body);
    body.put("presence_penalty", 0.0)
        .put("frequency_penalty", 0.0)
        .put("seed", request.seed())
        .put("include_stop_str_in_output", true)
        .put("min_tokens", 0)
        .put("spaces_between_special_tokens", false)
        .put("logprobs", 0)
        .put("return_token_ids", true)
        .put("return_tokens_as_token_ids", true)
        .put("add_special_tokens", false)
        .put("stream", stream)
        .put("request_id", request.id());
    request.putStops(body);
    request.putSalt(body);
    if (!ours) { // Troupe's server writes no special tokens in texts, and is asked for none
      body.put("skip_special_tokens", false);
      // The request names every id that ends a completion; vLLM by itself would end it at the
      // tokenizer's end of sequence too, which need not be one of them.
      body.put("ignore_eos", true);
    }
    if (ours) {
      body.put("stream_interval_ms", request.interval().toMillis()).put("detokenize", false);
    }
    return body;
  }

  @Override
  public List<CompletionChunk> pieces(JsonNode message) throws MalformedResponseException {
    List<CompletionChunk> pieces = new ArrayList<>();
    for (JsonNode choice : CompletionCodec.choices(message)) {
      JsonNode logProbs = choice.path("logprobs");
      pieces.add(
          CompletionChunk.ofChoice(
              message,
              choice,
              tokens(choice, logProbs),
              numbers(logProbs.path("token_logprobs")),
              JsonFields.ids(choice.path("prompt_token_ids"))));
    }
    return pieces;
  }

  /** Decodes token ids from the tokens' names, for servers older than {@code return_token_ids}. */
  private static int[] tokens(JsonNode choice, JsonNode logProbs)
      throws MalformedResponseException {
    if (choice.path("token_ids").isArray() || !logProbs.path("tokens").isArray()) {
      return JsonFields.ids(choice.path("token_ids"));
    }
    JsonNode names = logProbs.path("tokens");
    int[] ids = new int[names.size()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = named(JsonFields.text(names.get(i)));
    }
    return ids;
  }

  /** The id in a name such as {@code token_id:17}. */
  static int named(String name) throws MalformedResponseException {
    try {
      if (name.startsWith(TOKEN_ID)) {
        return Integer.parseInt(name.substring(TOKEN_ID.length()));
      }
    } catch (NumberFormatException noNumber) {
      throw new MalformedResponseException("the token '%s' names no id".formatted(name));
    }
    throw new MalformedResponseException(
        "the token '%s' has no id, and there are no token_ids".formatted(name));
  }

  private static double[] numbers(JsonNode array) {
    double[] numbers = new double[array.isArray() ? array.size() : 0];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = JsonFields.number(array.get(i));
    }
    return numbers;
  }
}
