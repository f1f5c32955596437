package io.troupe.runtime.evaluation;

import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.weights.PublishedWeights;
import java.util.List;
import java.util.Optional;

/**
 * The weights that an evaluation is of.
 *
 * @param run that they are of
 * @param weights weights whose place is the folder of a checkpoint's policy
 * @param server address at which hosts that do not see the folder fetch them; empty if there is
 *     none
 * @param secret that the server and such hosts prove to each other, in hex
 */
public record EvaluatedWeights(String run, PublishedWeights weights, String server, String secret) {
  /** Weights in a folder alone. */
  public EvaluatedWeights(String run, PublishedWeights weights) {
    this(run, weights, "", "");
  }

  /** Returns these weights with the address of a server that has them. */
  public EvaluatedWeights servedAt(String place, String proof) {
    return new EvaluatedWeights(run, weights, place, proof);
  }

  /**
   * Returns the reason why completions are none of these weights.
   *
   * @param digest of the weights that sampled them
   */
  public Optional<String> objection(String digest, List<Completion> completions) {
    if (!digest.equals(weights.digest())) {
      return Optional.of(
          "completions were sampled with weights of digest %s, and %s of digest %s are evaluated"
              .formatted(digest, weights.version(), weights.digest()));
    }
    return completions.stream()
        .flatMap(completion -> completion.versions().spans().stream())
        .map(span -> span.version())
        .filter(version -> !version.equals(weights.version()))
        .findFirst()
        .map(this::mixed);
  }

  private String mixed(WeightVersion other) {
    return "a token was sampled by %s, and %s is evaluated".formatted(other, weights.version());
  }

  @Override
  public String toString() {
    return "EvaluatedWeights[%s of %s]".formatted(weights, run);
  }
}
