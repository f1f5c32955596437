package io.troupe.run.replay;

import io.troupe.store.folder.RunFolder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The first place where a replay is not the run.
 *
 * @param step step whose batch or weights differ; none for a group that no step trained on
 * @param group empty where weights differ
 * @param completion index in the group
 * @param token index in the completion, where it is known
 * @param sentence the recorded value, and the value that came instead
 */
public record ReplayDifference(
    OptionalLong step,
    OptionalLong group,
    OptionalInt completion,
    OptionalInt token,
    String sentence) {
  static ReplayDifference ofWeights(long step, String sentence) {
    return new ReplayDifference(
        OptionalLong.of(step),
        OptionalLong.empty(),
        OptionalInt.empty(),
        OptionalInt.empty(),
        sentence);
  }

  /**
   * Refuses to explain a run from a replay that is not the run.
   *
   * @throws ReplayRefusedException if there is a difference
   */
  static void refuse(RunFolder folder, Optional<ReplayDifference> difference)
      throws ReplayRefusedException {
    if (difference.isPresent()) {
      throw new ReplayRefusedException(
          "the replay of %s parts from it, so that its numbers would not be the run's: %s"
              .formatted(folder.name(), difference.get().line()));
    }
  }

  /** The place and the sentence. */
  public String line() {
    StringBuilder place = new StringBuilder();
    step.ifPresentOrElse(
        number -> place.append("step ").append(number), () -> place.append("no step"));
    group.ifPresent(number -> place.append(", group ").append(number));
    completion.ifPresent(index -> place.append(", completion ").append(index));
    token.ifPresent(index -> place.append(", token ").append(index));
    return place.append(": ").append(sentence).toString();
  }

  /** For JSON. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    step.ifPresent(number -> map.put("step", number));
    group.ifPresent(number -> map.put("group", number));
    completion.ifPresent(index -> map.put("completion", index));
    token.ifPresent(index -> map.put("token", index));
    map.put("what", sentence);
    return map;
  }
}
