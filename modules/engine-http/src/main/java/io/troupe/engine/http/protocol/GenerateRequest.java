package io.troupe.engine.http.protocol;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.SamplingSettings;
import java.time.Duration;

/**
 * One request for completions of a prompt.
 *
 * @param id unique among the requests of this process, in characters that an HTTP header permits
 * @param model the server's name for the policy
 * @param prompt token ids
 * @param completions number of completions, sampled independently
 * @param settings sampling settings; they contain all ids that end a completion, the tokenizer's
 *     own too
 * @param maxTokens most tokens of a completion
 * @param seed the sampling seed
 * @param salt separates the prefix cache from that of other weights; empty for none
 * @param interval time for which the server may gather tokens before it sends them
 * @param adapter the name of the adapter to sample with; empty for the base model
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record GenerateRequest(
    String id,
    String model,
    int[] prompt,
    int completions,
    SamplingSettings settings,
    int maxTokens,
    long seed,
    String salt,
    Duration interval,
    String adapter) {
  public GenerateRequest {
    require(prompt.length >= 1, "a prompt has at least one token");
    require(completions >= 1, "a request is for at least one completion, not %d", completions);
    require(maxTokens >= 1, "a completion may have at least one token, not %d", maxTokens);
    for (int token : prompt) {
      require(token >= 0, "ids are 0 or greater, and the prompt holds %d", token);
    }
  }

  /** The seed of one completion, where each completion needs its own request. */
  public static long seedOf(long group, int completion) {
    return mixed(group, completion);
  }

  /**
   * The seed of a continuation. It differs from the completion's first seed, or the same random
   * numbers would be used twice in one completion. It depends on these three arguments alone, so
   * that a completion can be reproduced from the positions of its cuts.
   */
  public static long seedOfContinuation(long group, int completion, int kept) {
    return kept == 0 ? seedOf(group, completion) : mixed(mixed(group, completion), kept);
  }

  /** Writes the prompt's ids into a field of a request. */
  void putPrompt(ObjectNode body, String field) {
    ArrayNode ids = body.putArray(field);
    for (int token : prompt) {
      ids.add(token);
    }
  }

  /** The server's name for what samples: the adapter, or the model without one. */
  String sampler() {
    return adapter.isEmpty() ? model : adapter;
  }

  /** Writes how tokens are chosen, as vLLM names it. */
  void putSampling(ObjectNode sampling) {
    sampling
        .put("temperature", settings.temperature())
        .put("top_p", settings.topP())
        .put("top_k", settings.topK())
        .put("min_p", settings.minP())
        .put("repetition_penalty", settings.repetitionPenalty());
  }

  /** Writes what separates the prefix cache, as vLLM names it. */
  void putSalt(ObjectNode body) {
    if (!salt.isEmpty()) {
      body.put("cache_salt", salt);
    }
  }

  /** Writes the texts and ids that end a completion, as vLLM and SGLang name them. */
  void putStops(ObjectNode sampling) {
    ArrayNode stops = sampling.putArray("stop");
    settings.stops().forEach(stops::add);
    ArrayNode ids = sampling.putArray("stop_token_ids");
    settings.stopIds().stream().sorted().forEach(ids::add);
  }

  private static long mixed(long seed, int part) {
    long bits = seed + (part + 1) * 0x9e3779b97f4a7c15L;
    bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
    return (bits ^ (bits >>> 31)) >>> 33; // 31 bits: every server accepts them
  }
}
