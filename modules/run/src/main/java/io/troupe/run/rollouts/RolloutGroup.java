package io.troupe.run.rollouts;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.advantage.Advantages;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.EpisodeSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StopReason;
import java.nio.FloatBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The completions of one prompt under one lease, with what became of them.
 *
 * <p>Rewards, versions and lengths are the journal's, texts and reasons those of the traces. A
 * group may lack either: the journal does not have groups that were lost before they were scored,
 * and the traces drop their oldest lines.
 */
public final class RolloutGroup {
  /** What became of a group. */
  public enum RolloutStage {
    /** A step trained on it. */
    TRAINED,
    /** A step took it and left the weights as they were. */
    SKIPPED,
    /** Its rewards are equal: nothing to learn. */
    FILTERED,
    /** It waits for a step, or for the end of the one that runs. */
    BUFFERED,
    /** It was scored, and then too stale, or taken back. */
    DROPPED,
    /** Not all of it could be scored, its lease had ended, or a resume undid it. */
    VOID;

    /** The word for it in files and options. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The part of a group in the run.
   *
   * @param step the first that took it; 0 for none
   * @param advantages one a completion; empty where they are not known
   */
  record Outcome(RolloutStage stage, long step, List<Double> advantages) {
    Outcome {
      advantages = List.copyOf(advantages);
    }

    static final Outcome VOID = new Outcome(RolloutStage.VOID, 0, List.of());
  }

  private final LeaseId lease;
  private final Outcome outcome;
  private final Optional<RecordedGroup> recorded;
  private final JsonNode texts;

  RolloutGroup(LeaseId lease, Outcome outcome, Optional<RecordedGroup> recorded, JsonNode texts) {
    this.lease = lease;
    this.outcome = outcome;
    this.recorded = recorded;
    this.texts = texts;
  }

  /** The lease that it was sampled under. */
  public LeaseId lease() {
    return lease;
  }

  /** What became of it. */
  public RolloutStage stage() {
    return outcome.stage();
  }

  /** The first step that took it; 0 for none. */
  public long step() {
    return outcome.step();
  }

  /**
   * The step in whose time the group falls: the one that took it, else the one after the newest
   * version that sampled it; 0 where the journal does not have it.
   */
  public long period() {
    return step() > 0
        ? step()
        : recorded.map(group -> group.summary().newest().number() + 1).orElse(0L);
  }

  /** The number of completions. */
  public int size() {
    return recorded
        .map(group -> group.summary().rewards().size())
        .orElse(texts.path("completions").size());
  }

  /** The reward of a completion; empty if it could not be judged. */
  public OptionalDouble reward(int completion) {
    if (recorded.isPresent()) {
      return OptionalDouble.of(recorded.get().summary().rewards().get(completion));
    }
    JsonNode reward = texts.path("rewards").path(completion);
    return reward.isNumber() ? OptionalDouble.of(reward.doubleValue()) : OptionalDouble.empty();
  }

  private DoubleStream rewards() {
    return IntStream.range(0, size())
        .mapToObj(this::reward)
        .flatMapToDouble(OptionalDouble::stream);
  }

  /** The mean of the rewards; empty if nothing could be judged. */
  public OptionalDouble meanReward() {
    return rewards().average();
  }

  /** Whether all completions are judged, and none is better than another. */
  public boolean isDegenerate() {
    return judged() && Advantages.degenerate(rewards().toArray());
  }

  /** Whether every completion passes. */
  public boolean allPass() {
    return judged() && IntStream.range(0, size()).allMatch(this::passes);
  }

  /** Whether no completion passes. */
  public boolean nonePasses() {
    return judged() && IntStream.range(0, size()).noneMatch(this::passes);
  }

  /** Whether a completion passed when it was judged; traces of before do not say it. */
  private boolean passes(int completion) {
    double reward = reward(completion).orElse(Double.NEGATIVE_INFINITY);
    JsonNode said = texts.path("passed").path(completion);
    return recorded
        .map(group -> group.summary().mark().passes(reward))
        .orElse(said.isBoolean() ? said.booleanValue() : PassMark.FULL.passes(reward));
  }

  private boolean judged() {
    return size() > 0 && rewards().count() == size();
  }

  /** The sampled tokens of all completions; 0 where the journal has them not. */
  public long tokens() {
    return recorded.map(group -> group.summary().tokens()).orElse(0L);
  }

  /** The number of completions that a limit of tokens or of the context cut off. */
  public long truncated() {
    return IntStream.range(0, size()).filter(this::isTruncated).count();
  }

  private boolean isTruncated(int completion) {
    return episode(completion)
        .map(EpisodeSummary::stop)
        .filter(stop -> stop == StopReason.MAX_TOKENS || stop == StopReason.CONTEXT_OVERFLOW)
        .isPresent();
  }

  private Optional<EpisodeSummary> episode(int completion) {
    return recorded.map(group -> group.summary().episodes().get(completion));
  }

  /** The prompt as the policy read it; empty where no trace has it. */
  public String prompt() {
    return LiteralMark.removed(texts.path("prompt").asText());
  }

  /** The expected answer; empty where no trace has it. */
  public String answer() {
    return texts.path("answer").asText();
  }

  /** The prompt's id; empty where no trace has it. */
  public String promptId() {
    return texts.path("prompt_id").asText();
  }

  /** Whether the traces have the texts. */
  public boolean hasTexts() {
    return texts.has("completions");
  }

  /** The text of a completion; of an episode, its last answer. */
  public String text(int completion) {
    return texts.path("completions").path(completion).asText();
  }

  /** The verifier's reason for a reward. */
  public String reason(int completion) {
    return texts.path("verdicts").path(completion).asText();
  }

  /** Returns a completion by the columns of {@link RolloutColumns}; what is not known is absent. */
  public Map<String, Object> row(int completion) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("group", lease.group().number());
    row.put("fence", lease.fence());
    row.put("completion", completion);
    row.put("stage", stage().word());
    if (step() > 0) {
      row.put("step", step());
    }
    recorded.ifPresent(group -> recorded(group, completion, row));
    if (reward(completion).isPresent()) {
      row.put("reward", reward(completion).getAsDouble());
      row.put("passed", passes(completion));
    }
    if (completion < outcome.advantages().size()) {
      row.put("advantage", outcome.advantages().get(completion));
    }
    if (hasTexts()) {
      row.put("prompt_id", promptId());
      row.put("source", texts.path("source").asText());
      row.put("prompt", prompt());
      row.put("answer", answer());
      row.put("text", text(completion));
      row.put("reason", reason(completion));
    }
    return row;
  }

  private void recorded(RecordedGroup group, int completion, Map<String, Object> row) {
    TokenVersions versions = group.summary().versions().get(completion);
    EpisodeSummary episode = group.summary().episodes().get(completion);
    row.put("prompt_index", group.prompt());
    row.put("epoch", group.epoch());
    row.put("worker", group.worker().value());
    row.put("tokens", versions.tokens());
    row.put("turns", episode.turns());
    row.put("stop", episode.stop().name().toLowerCase(Locale.ROOT));
    row.put("truncated", isTruncated(completion));
    if (versions.tokens() > 0) {
      row.put("oldest_version", versions.oldest().number());
      row.put("newest_version", versions.newest().number());
      if (step() > 0) {
        row.put("staleness", step() - 1 - versions.oldest().number());
      }
    }
  }

  /** Adds the tokens that the run stored of a completion, turn after turn. */
  static void addTokens(ScoredGroup stored, int completion, Map<String, Object> row) {
    List<Completion> turns = stored.episodes().get(completion).completions().toList();
    FloatBuffer logProbs = FloatBuffer.allocate(turns.stream().mapToInt(Completion::length).sum());
    turns.forEach(turn -> logProbs.put(turn.logProbs()));
    row.put("prompt_token_ids", stored.prompt());
    row.put(
        "token_ids", turns.stream().flatMapToInt(turn -> IntStream.of(turn.tokens())).toArray());
    row.put("log_probs", logProbs.array());
  }

  /** The completions in their order. */
  public Stream<Map<String, Object>> rows() {
    return IntStream.range(0, size()).mapToObj(this::row);
  }
}
