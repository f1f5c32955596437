package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.util.ArrayList;
import java.util.List;

/**
 * vLLM's {@code /inference/v1/generate}: tokens only. Log-probabilities have two shapes; both are
 * read by position, and ids come from {@code token_ids}.
 */
final class GenerateCodec implements CompletionCodec {
  @Override
  public String path() {
    return "/inference/v1/generate";
  }

  @Override
  public ObjectNode body(GenerateRequest request, boolean stream) {
    ObjectNode body = JsonFields.object();
    body.put("request_id", request.id()).put("model", request.sampler()).put("stream", stream);
    request.putPrompt(body, "token_ids");
    ObjectNode sampling = body.putObject("sampling_params");
    sampling.put("max_tokens", request.maxTokens()).put("n", request.completions());
    request.putSampling(sampling);
    sampling
        .put("seed", request.seed())
        .put("logprobs", 0)
        .put("ignore_eos", true) // as in CompletionsCodec
        .put("detokenize", !request.settings().stops().isEmpty());
    request.putStops(sampling);
    request.putSalt(body);
    return body;
  }

  @Override
  public List<CompletionChunk> pieces(JsonNode message) throws MalformedResponseException {
    List<CompletionChunk> pieces = new ArrayList<>();
    for (JsonNode choice : CompletionCodec.choices(message)) {
      JsonNode content = choice.path("logprobs").path("content");
      double[] logProbs = new double[content.isArray() ? content.size() : 0];
      for (int i = 0; i < logProbs.length; i++) {
        logProbs[i] = JsonFields.number(content.get(i).path("logprob"));
      }
      pieces.add(
          CompletionChunk.ofChoice(
              message,
              choice,
              JsonFields.ids(choice.path("token_ids")),
              logProbs,
              JsonFields.ids(message.path("prompt_token_ids"))));
    }
    return pieces;
  }
}
