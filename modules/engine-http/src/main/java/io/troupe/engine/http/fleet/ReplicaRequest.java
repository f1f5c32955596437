package io.troupe.engine.http.fleet;

import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.protocol.CheckedCompletion;
import io.troupe.engine.http.protocol.CompletionCheck;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.http.protocol.PartialCompletion;
import io.troupe.engine.http.protocol.RawCompletion;
import io.troupe.engine.http.protocol.VersionReporting;
import io.troupe.engine.http.replica.Replica;
import io.troupe.engine.protocol.WeightTag;
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
 * A part of a group at a replica: the request, and the check of its answer.
 *
 * @param can the server's capabilities
 * @param asked the weights in use when the request was sent
 * @param halfReads the server's count of partial weight reads when the request was sent
 */
record ReplicaRequest(
    GroupRequest.Part part,
    Replica replica,
    Capabilities can,
    WeightTag asked,
    GenerateRequest sample,
    long halfReads) {
  private static final Duration GATHER = Duration.ofSeconds(1);

  /** The result of checking an answer. */
  sealed interface ResponseCheck {
    /**
     * All parts of the answer may be used.
     *
     * @param whole completions, by their index in the group
     * @param cut parts that are still to be sampled
     */
    record Usable(Map<Integer, Completion> whole, List<GroupRequest.Part> cut)
        implements ResponseCheck {}

    /** Some of the answer must not be used. */
    record Unusable(CheckedCompletion.Refused why) implements ResponseCheck {}
  }

  /**
   * A request for a part.
   *
   * @param number distinguishes the requests of this process
   */
  static ReplicaRequest of(
      GroupRequest.Part part,
      Replica replica,
      Capabilities can,
      WeightTag asked,
      LocalPolicy policy,
      long number) {
    SampleRequest request = part.job().request();
    PartialCompletion head = part.head();
    boolean group =
        can.samplesGroups() && part.count() == request.completions() && head.length() == 0;
    int room =
        Math.min(request.settings().maxTokens(), policy.contextLength() - request.prompt().length);
    GenerateRequest sample =
        new GenerateRequest(
            request.lease().toString().replace('#', '.') + "-" + number,
            can.model(),
            head.after(request.prompt()),
            part.count(),
            request
                .settings()
                .stoppingAt(policy.tokenizer().endIds())
                .withStops(can.stopTexts(request.settings().stops())),
            room - head.length(),
            group
                ? request.seed()
                : GenerateRequest.seedOfContinuation(request.seed(), part.first(), head.length()),
            can.dialect() == Dialect.TROUPE ? "" : asked.toString(),
            GATHER,
            replica.adapter(asked));
    return new ReplicaRequest(part, replica, can, asked, sample, replica.partialLoads());
  }

  private VersionReporting versionReporting() {
    if (!sample.adapter().isEmpty()) {
      return VersionReporting.ADAPTER;
    }
    return can.has(Capability.WEIGHT_SPANS) ? VersionReporting.SPANS : VersionReporting.NOTHING;
  }

  /**
   * Whether a token may come from partly read weights without a label that shows it: a server that
   * reads weights itself changes the label as it reads, but a server that receives the label from
   * outside does not.
   */
  private boolean mayMixPartialWeights() {
    return switch (versionReporting()) {
      case ADAPTER -> false;
      case SPANS -> !can.has(Capability.UPDATE_FROM_DISK);
      case NOTHING -> true;
    };
  }

  /** Completes once it is known whether the whole answer was sampled with complete weights. */
  CompletionStage<Void> settled() {
    return mayMixPartialWeights() ? replica.settled() : CompletableFuture.completedStage(null);
  }

  private Optional<CheckedCompletion.Refused> refusedForPartialWeights(
      List<RawCompletion> answers) {
    boolean sampled = answers.stream().anyMatch(answer -> answer.tokens().length > 0);
    return sampled && mayMixPartialWeights() && replica.partialLoads() != halfReads
        ? Optional.of(
            new CheckedCompletion.Refused(
                CheckedCompletion.Reason.HALF_WEIGHTS,
                "the server began to read new weights and did not sample with them, and what"
                    + " it reports of its weights does not show which sampled a token"))
        : Optional.empty();
  }

  /**
   * Whether the request continues a completion that the server would sample from another
   * distribution: SGLang's repetition penalty covers only the tokens that SGLang sampled itself.
   */
  boolean continuesFromOtherDistribution() {
    return part.head().length() > 0 && penalisesOnlyNewTokens();
  }

  private boolean penalisesOnlyNewTokens() {
    return can.dialect() == Dialect.SGLANG && sample.settings().repetitionPenalty() != 1;
  }

  /**
   * Checks the answer, or its tokens up to the cut.
   *
   * @param published digests of the versions that this run published
   * @param sinceNanos time of the first request for its completions
   */
  ResponseCheck judge(
      List<RawCompletion> answers,
      Tokenizer tokenizer,
      Map<WeightVersion, String> published,
      long sinceNanos) {
    Optional<CheckedCompletion.Refused> doubtful = refusedForPartialWeights(answers);
    if (doubtful.isPresent()) {
      return new ResponseCheck.Unusable(doubtful.get());
    }
    Set<Integer> ends = sample.settings().stopIds();
    List<String> stops = part.job().request().settings().stops();
    CompletionCheck check =
        new CompletionCheck(
            part.head(),
            sample.prompt(),
            tokenizer.vocabularySize(),
            sample.maxTokens(),
            ends,
            !stops.isEmpty(),
            asked,
            published,
            versionReporting());
    StopTruncation stopCut = new StopTruncation(stops, tokenizer);
    Map<Integer, Completion> whole = new HashMap<>();
    List<GroupRequest.Part> cut = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      int place = part.first() + i;
      boolean told = can.dialect().codec().takesStopIds();
      RawCompletion answer = told ? answers.get(i) : answers.get(i).firstTokens(ends);
      switch (check.check(answer)) {
        case CheckedCompletion.Usable(Completion completion) ->
            whole.put(place, stopCut.of(completion));
        case CheckedCompletion.Cut(PartialCompletion kept) -> {
          Optional<Completion> ended = stopCut.ended(kept);
          if (ended.isPresent()) {
            whole.put(place, ended.get());
          } else {
            cut.add(part.continued(i, kept, sinceNanos));
          }
        }
        case CheckedCompletion.Refused why -> {
          return new ResponseCheck.Unusable(why);
        }
      }
    }
    return new ResponseCheck.Usable(whole, cut);
  }
}
