package io.troupe.engine.http;

import io.troupe.core.rollout.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.protocol.Checked;
import io.troupe.engine.http.protocol.CompletionCheck;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.Draw;
import io.troupe.engine.http.protocol.Drawn;
import io.troupe.engine.http.protocol.WeightTag;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A part of a group at a server: what is asked of it, and what its answer is worth.
 *
 * @param can what the server can do
 * @param asked the weights in use when it is asked
 */
record Errand(GroupJob.Part part, Replica replica, Capabilities can, WeightTag asked, Draw draw) {
  private static final Duration GATHER = Duration.ofSeconds(1);

  /** What an answer is worth. */
  sealed interface Worth {
    /** All completions may enter the loop. */
    record Sound(List<Completion> completions) implements Worth {}

    /** One may not. */
    record Unsound(Checked.Refused why) implements Worth {}
  }

  /**
   * Of a part.
   *
   * @param number tells the requests of this process apart
   */
  static Errand of(
      GroupJob.Part part,
      Replica replica,
      Capabilities can,
      WeightTag asked,
      int contextLength,
      long number) {
    SampleRequest request = part.job().request();
    boolean group = can.drawsGroups() && part.count() == request.completions();
    Draw draw =
        new Draw(
            request.lease().toString().replace('#', '.') + "-" + number,
            can.model(),
            request.prompt(),
            part.count(),
            request.settings(),
            Math.min(request.settings().maxTokens(), contextLength - request.prompt().length),
            group ? request.seed() : Draw.seedOf(request.seed(), part.first()),
            can.dialect() == Dialect.TROUPE ? "" : asked.toString(),
            GATHER);
    return new Errand(part, replica, can, asked, draw);
  }

  /**
   * Checks the answer.
   *
   * @param published digests of the versions that this run published
   */
  Worth judge(List<Drawn> answers, Tokenizer tokenizer, Map<WeightVersion, String> published) {
    Set<Integer> ends = new HashSet<>(tokenizer.endIds());
    ends.addAll(draw.settings().stopIds());
    CompletionCheck check =
        new CompletionCheck(
            draw.prompt(),
            tokenizer.vocabularySize(),
            draw.maxTokens(),
            ends,
            !draw.settings().stops().isEmpty(),
            asked,
            published,
            can.has(Capability.WEIGHT_SPANS));
    List<Completion> sound = new ArrayList<>();
    for (Drawn answer : answers) {
      switch (check.check(answer)) {
        case Checked.Sound(Completion completion) ->
            sound.add(StopCut.of(completion, draw.settings().stops(), tokenizer));
        case Checked.Refused why -> {
          return new Worth.Unsound(why);
        }
      }
    }
    return new Worth.Sound(sound);
  }
}
