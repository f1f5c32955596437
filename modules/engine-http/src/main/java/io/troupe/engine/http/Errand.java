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
import io.troupe.engine.http.protocol.Partial;
import io.troupe.engine.http.protocol.Telling;
import io.troupe.engine.http.protocol.WeightTag;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A part of a group at a server: what is asked of it, and what its answer is worth.
 *
 * @param can what the server can do
 * @param asked the weights in use when it is asked
 * @param halfReads of the server when it is asked
 */
record Errand(
    GroupJob.Part part,
    Replica replica,
    Capabilities can,
    WeightTag asked,
    Draw draw,
    long halfReads) {
  private static final Duration GATHER = Duration.ofSeconds(1);

  /** What an answer is worth. */
  sealed interface Worth {
    /**
     * All that came of it may be used.
     *
     * @param whole completions, by their place in the group
     * @param cut parts that are left to be drawn
     */
    record Sound(Map<Integer, Completion> whole, List<GroupJob.Part> cut) implements Worth {}

    /** Something may not. */
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
      OwnPolicy policy,
      long number) {
    SampleRequest request = part.job().request();
    Partial head = part.head();
    boolean group =
        can.drawsGroups() && part.count() == request.completions() && head.length() == 0;
    int room =
        Math.min(request.settings().maxTokens(), policy.contextLength() - request.prompt().length);
    Draw draw =
        new Draw(
            request.lease().toString().replace('#', '.') + "-" + number,
            can.model(),
            head.after(request.prompt()),
            part.count(),
            request.settings().stoppingAt(policy.tokenizer().endIds()),
            room - head.length(),
            group ? request.seed() : Draw.seedOn(request.seed(), part.first(), head.length()),
            can.dialect() == Dialect.TROUPE ? "" : asked.toString(),
            GATHER,
            replica.adapter(asked));
    return new Errand(part, replica, can, asked, draw, replica.halfReads());
  }

  private Telling telling() {
    if (!draw.adapter().isEmpty()) {
      return Telling.ADAPTER;
    }
    return can.has(Capability.WEIGHT_SPANS) ? Telling.SPANS : Telling.NOTHING;
  }

  /**
   * Whether a token may be of weights that were read in part, and its label does not tell: a server
   * names what it read itself as it reads it, and one that is told the name does not know.
   */
  private boolean mayHideHalfWeights() {
    return switch (telling()) {
      case ADAPTER -> false;
      case SPANS -> !can.has(Capability.UPDATE_FROM_DISK);
      case NOTHING -> true;
    };
  }

  /** Completes once it is known whether all that came of it is of whole weights. */
  CompletionStage<Void> settled() {
    return mayHideHalfWeights() ? replica.settled() : CompletableFuture.completedStage(null);
  }

  private Optional<Checked.Refused> halfWeights(List<Drawn> answers) {
    boolean drew = answers.stream().anyMatch(answer -> answer.tokens().length > 0);
    return drew && mayHideHalfWeights() && replica.halfReads() != halfReads
        ? Optional.of(
            new Checked.Refused(
                Checked.Reason.HALF_WEIGHTS,
                "the server began to read new weights and did not come to draw with them, and what"
                    + " it tells of its weights does not show which drew a token"))
        : Optional.empty();
  }

  /**
   * Whether it is the rest of a completion, and the server would draw it from another distribution:
   * SGLang's repetition penalty is of the tokens that it drew itself.
   */
  boolean goesOnOtherwise() {
    return part.head().length() > 0 && penalisesOwnTokensAlone();
  }

  private boolean penalisesOwnTokensAlone() {
    return can.dialect() == Dialect.SGLANG && draw.settings().repetitionPenalty() != 1;
  }

  /**
   * Checks the answer, or what came of it before it was cut.
   *
   * @param published digests of the versions that this run published
   * @param sinceNanos when its completions were first asked for
   */
  Worth judge(
      List<Drawn> answers,
      Tokenizer tokenizer,
      Map<WeightVersion, String> published,
      long sinceNanos) {
    Optional<Checked.Refused> doubtful = halfWeights(answers);
    if (doubtful.isPresent()) {
      return new Worth.Unsound(doubtful.get());
    }
    Set<Integer> ends = draw.settings().stopIds();
    CompletionCheck check =
        new CompletionCheck(
            part.head(),
            draw.prompt(),
            tokenizer.vocabularySize(),
            draw.maxTokens(),
            ends,
            !draw.settings().stops().isEmpty(),
            asked,
            published,
            telling());
    StopCut stopCut = new StopCut(draw.settings().stops(), tokenizer);
    Map<Integer, Completion> whole = new HashMap<>();
    List<GroupJob.Part> cut = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      int place = part.first() + i;
      boolean told = can.dialect().codec().takesStopIds();
      Drawn answer = told ? answers.get(i) : answers.get(i).upTo(ends);
      switch (check.check(answer)) {
        case Checked.Sound(Completion completion) -> whole.put(place, stopCut.of(completion));
        case Checked.Cut(Partial kept) -> {
          Optional<Completion> ended = stopCut.ended(kept);
          if (ended.isPresent()) {
            whole.put(place, ended.get());
          } else {
            cut.add(part.drawnOn(i, kept, sinceNanos));
          }
        }
        case Checked.Refused why -> {
          return new Worth.Unsound(why);
        }
      }
    }
    return new Worth.Sound(whole, cut);
  }
}
