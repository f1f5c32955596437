package io.troupe.runtime.episode;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import io.troupe.core.rollout.Turn;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** An episode as texts, for people; no decision depends on it. */
public record EpisodeTrace(StopReason stop, List<TurnTrace> turns) {
  /**
   * A turn as texts.
   *
   * @param sequence index of the training sequence that it is in
   * @param text of the whole prompt where it begins a sequence that is not the first
   * @param versions of the sampled tokens
   * @param trained whether the sampled tokens may have loss weight
   * @param millis from the request to the last token
   * @param reward the environment's reward for the turn's calls
   */
  public record TurnTrace(
      String agent,
      int sequence,
      TurnText text,
      TokenVersions versions,
      boolean trained,
      long millis,
      List<ToolRun> tools,
      double reward) {
    public TurnTrace {
      tools = List.copyOf(tools);
    }
  }

  /**
   * The text that a turn's request adds, and the sampled text.
   *
   * @param observedTokens that the request adds, all without loss weight
   */
  public record TurnText(String observed, int observedTokens, String sampled) {}

  private record Placed(int ordinal, TurnTrace trace) {}

  public EpisodeTrace {
    turns = List.copyOf(turns);
  }

  /** The turns of an episode. */
  public static EpisodeTrace of(SampledEpisode sampled, Tokenizer tokenizer) {
    return of(sampled.episode(), sampled.rewards(), tokenizer);
  }

  /**
   * The turns of an episode.
   *
   * @param rewards the environment's reward of each turn, in order; none where there is no
   *     environment
   */
  public static EpisodeTrace of(Episode episode, List<Double> rewards, Tokenizer tokenizer) {
    List<Placed> placed = new ArrayList<>();
    for (int s = 0; s < episode.sequences().size(); s++) {
      EpisodeSequence sequence = episode.sequences().get(s);
      for (int t = 0; t < sequence.turns().size(); t++) {
        Turn turn = sequence.turns().get(t);
        int[] observed = s > 0 && t == 0 ? sequence.prompt() : turn.observed();
        Completion completion = turn.completion();
        placed.add(
            new Placed(
                turn.ordinal(),
                new TurnTrace(
                    turn.agent(),
                    s,
                    new TurnText(
                        tokenizer.decode(observed),
                        observed.length,
                        tokenizer.decode(completion.tokens())),
                    completion.versions(),
                    turn.trained(),
                    turn.endMillis() - turn.startMillis(),
                    turn.tools(),
                    rewards.isEmpty() ? 0 : rewards.get(turn.ordinal()))));
      }
    }
    return new EpisodeTrace(
        episode.stop(),
        placed.stream()
            .sorted(Comparator.comparingInt(Placed::ordinal))
            .map(Placed::trace)
            .toList());
  }

  /** Returns the answer that verifiers judge: the last one, cut before a stop text. */
  public static String answer(Episode episode, Tokenizer tokenizer, List<String> stops) {
    int[] tokens = episode.turns().getLast().completion().tokens();
    return StopMatcher.cut(tokenizer.decode(tokens), stops);
  }

  /** Returns the texts from which the reward is made, where the last answer is judged. */
  EpisodeText answering(String answer, boolean thoughtOpen) {
    return new EpisodeText(answer, texts(), lower(stop), thoughtOpen);
  }

  /** Returns the texts from which the reward is made, where an environment hands in files. */
  EpisodeText handingIn(String submission) {
    return new EpisodeText(submission, texts(), lower(stop));
  }

  private List<EpisodeText.TurnText> texts() {
    return turns.stream().map(EpisodeTrace::text).toList();
  }

  private static EpisodeText.TurnText text(TurnTrace turn) {
    return new EpisodeText.TurnText(
        turn.agent(),
        turn.text().observed(),
        turn.text().sampled(),
        turn.tools().stream()
            .map(run -> new EpisodeText.ToolText(run.name(), lower(run.outcome()), run.exit()))
            .toList(),
        turn.reward());
  }

  private static String lower(Enum<?> name) {
    return name.name().toLowerCase(Locale.ROOT);
  }

  /** The episode as a line of the traces has it: docs/formats.md. */
  public Map<String, Object> line() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("stop", lower(stop));
    map.put("turns", turns.stream().map(EpisodeTrace::turn).toList());
    return map;
  }

  private static Map<String, Object> turn(TurnTrace turn) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("agent", turn.agent());
    map.put("sequence", turn.sequence());
    map.put("observed", turn.text().observed());
    map.put("sampled", turn.text().sampled());
    map.put("observed_tokens", turn.text().observedTokens());
    map.put("versions", turn.versions().spans().stream().map(EpisodeTrace::span).toList());
    map.put("trained", turn.trained());
    map.put("millis", turn.millis());
    map.put("tools", turn.tools().stream().map(EpisodeTrace::tool).toList());
    map.put("reward", turn.reward());
    return map;
  }

  private static List<Long> span(TokenVersions.Span span) {
    return List.of(span.version().number(), (long) span.tokens());
  }

  private static Map<String, Object> tool(ToolRun run) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("id", run.id());
    map.put("name", run.name());
    map.put("outcome", lower(run.outcome()));
    map.put("exit", run.exit());
    map.put("millis", run.millis());
    map.put("argument_bytes", run.argumentBytes());
    map.put("bytes", run.bytes());
    return map;
  }
}
