package io.troupe.engine.http.protocol;

import static io.troupe.core.Require.require;

import io.troupe.engine.SamplingSettings;
import java.time.Duration;

/**
 * One request for completions of a prompt.
 *
 * @param id unique among the requests of this process, in what HTTP allows in a header
 * @param model the name the server knows the policy by
 * @param prompt token ids
 * @param completions how many, drawn independently
 * @param settings how; the ids that end a completion are all of them, the tokenizer's own too
 * @param maxTokens most tokens of a completion
 * @param seed of the draws
 * @param salt keeps cached keys and values of other weights from being used; empty for none
 * @param interval how long the server may gather tokens before it sends them
 * @param adapter the name of the adapter to draw with; empty for the model as it is
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

  /** The seed of one completion, where a server draws each by a request of its own. */
  public static long seedOf(long group, int completion) {
    return mixed(group, completion);
  }

  /**
   * The seed of what is drawn after tokens that were kept: another one, or the same random numbers
   * would be used twice in one completion; and made of nothing but these three, so that whoever
   * knows where a completion was cut can draw it again.
   */
  public static long seedOfContinuation(long group, int completion, int kept) {
    return kept == 0 ? seedOf(group, completion) : mixed(mixed(group, completion), kept);
  }

  private static long mixed(long seed, int part) {
    long bits = seed + (part + 1) * 0x9e3779b97f4a7c15L;
    bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
    return (bits ^ (bits >>> 31)) >>> 33; // 31 bits: every server takes them
  }
}
