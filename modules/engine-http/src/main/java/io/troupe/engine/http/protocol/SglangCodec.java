package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.protocol.VersionSpan;
import java.util.List;
import java.util.Optional;

/** SGLang's {@code /generate}. Each message of a stream repeats all earlier tokens. */
final class SglangCodec implements CompletionCodec {
  @Override
  public String path() {
    return "/generate";
  }

  @Override
  public ObjectNode body(GenerateRequest request, boolean stream) {
    SamplingSettings settings = request.settings();
    ObjectNode body = JsonFields.object();
    body.put("rid", request.id());
    request.putPrompt(body, "input_ids");
    if (!request.adapter().isEmpty()) {
      body.put("lora_path", request.adapter());
    }
    body.put("return_logprob", true).put("logprob_start_len", -1).put("stream", stream);
    ObjectNode sampling = body.putObject("sampling_params");
    sampling
        .put("max_new_tokens", request.maxTokens())
        .put("temperature", settings.temperature())
        .put("top_p", settings.topP())
        .put("top_k", settings.topK() == 0 ? -1 : settings.topK())
        .put("min_p", settings.minP())
        .put("repetition_penalty", settings.repetitionPenalty())
        .put("presence_penalty", 0.0)
        .put("frequency_penalty", 0.0)
        .put("sampling_seed", request.seed())
        .put("skip_special_tokens", false)
        .put("no_stop_trim", true)
        .put("spaces_between_special_tokens", false);
    request.putStops(sampling);
    return body;
  }

  @Override
  public void ignoringEnd(ObjectNode body) {
    body.withObject("/sampling_params").put("ignore_eos", true);
  }

  @Override
  public List<CompletionChunk> pieces(JsonNode message) throws MalformedResponseException {
    JsonNode meta = message.path("meta_info");
    if (!meta.isObject()) {
      throw new MalformedResponseException(
          "no meta_info in " + JsonFields.excerpt(message.toString()));
    }
    JsonNode pairs = meta.path("output_token_logprobs");
    int count = pairs.isArray() ? pairs.size() : 0;
    double[] logProbs = new double[count];
    int[] tokens = new int[count];
    for (int i = 0; i < count; i++) {
      logProbs[i] = JsonFields.number(pairs.get(i).path(0));
      tokens[i] = pairs.get(i).path(1).asInt(-1);
    }
    int[] ids =
        message.path("output_ids").isArray() ? JsonFields.ids(message.path("output_ids")) : tokens;
    return List.of(
        new CompletionChunk(
            message.path("index").asInt(0),
            ids,
            logProbs,
            versions(meta, ids.length),
            ServerFinishReason.of(JsonFields.text(meta.path("finish_reason").path("type"))),
            new int[0],
            true,
            JsonFields.count(meta.path("completion_tokens")),
            ""));
  }

  /** An {@code abort} with a status is no abort: the request was refused, or the server failed. */
  @Override
  public Optional<CallFailure> failure(JsonNode message) {
    JsonNode finish = message.path("meta_info").path("finish_reason");
    int status = finish.path("status_code").asInt(0);
    return ServerFinishReason.of(JsonFields.text(finish.path("type"))) == ServerFinishReason.ABORTED
            && status >= 400
        ? Optional.of(CallFailure.inStream(status, JsonFields.text(finish.path("message"))))
        : CompletionCodec.super.failure(message);
  }

  /** A version without spans is the version of the last token; see {@link CompletionCheck}. */
  private static List<VersionSpan> versions(JsonNode meta, int tokens) {
    if (meta.path("weight_versions").isArray()) {
      return JsonFields.spans(meta.path("weight_versions"));
    }
    String version = meta.path("weight_version").asText("");
    return version.isEmpty() || tokens == 0
        ? List.of()
        : List.of(new VersionSpan(version, tokens - 1, tokens));
  }
}
