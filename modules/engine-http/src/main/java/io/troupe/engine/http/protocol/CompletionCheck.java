package io.troupe.engine.http.protocol;

import io.troupe.core.completion.FinishReason;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.protocol.CheckedCompletion.Cut;
import io.troupe.engine.http.protocol.CheckedCompletion.Reason;
import io.troupe.engine.http.protocol.CheckedCompletion.Refused;
import io.troupe.engine.http.protocol.CheckedCompletion.Usable;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.VersionSpan;
import io.troupe.engine.protocol.WeightTag;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides whether a server's completion may enter the training loop. Everything that would make an
 * importance ratio or a staleness bound wrong is a reason to refuse the completion; nothing is
 * repaired.
 *
 * <p>If a server reports only the weights of a completion's last token, or none, all its tokens are
 * attributed to the oldest weights that can have sampled one of them, the weights in use when the
 * completion was requested. A version that is too old can only mask a fresh token; it never lets a
 * stale token pass.
 *
 * <p>A cut completion must pass the same checks up to the cut; it is then {@link
 * CheckedCompletion.Cut} and may be continued. A continuation is checked together with all tokens
 * before it.
 *
 * @param head the tokens kept of this completion when it was cut
 * @param prompt the prompt that was sent, with {@code head} at its end
 * @param vocabularySize upper bound of token ids, exclusive
 * @param maxTokens the requested limit
 * @param endIds ids that end a completion
 * @param stopStrings whether texts could end it too
 * @param asked the weights in use when the completion was requested
 * @param published digests, as tags contain them, of the versions that this run published
 * @param telling form in which the server reports its weights
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record CompletionCheck(
    PartialCompletion head,
    int[] prompt,
    int vocabularySize,
    int maxTokens,
    Set<Integer> endIds,
    boolean stopStrings,
    WeightTag asked,
    Map<WeightVersion, String> published,
    VersionReporting telling) {
  /** Rounding may lift the log-probability of a certain token this far above zero. */
  private static final double ROUNDING = 1e-4;

  /** vLLM writes -9999 for minus infinity. */
  private static final double FLOOR = -9998;

  public CompletionCheck {
    endIds = Set.copyOf(endIds);
    published = Map.copyOf(published);
  }

  /** The completion, or its beginning, or the reason to refuse it. */
  public CheckedCompletion check(RawCompletion sampled) {
    Optional<Refused> refused =
        ending(sampled)
            .or(() -> tokens(sampled))
            .or(() -> logProbs(sampled))
            .or(() -> prompt(sampled));
    if (refused.isPresent()) {
      return refused.get();
    }
    return switch (versions(sampled)) {
      case Known(long[] versions) -> {
        float[] logProbs = new float[sampled.logProbs().length];
        for (int i = 0; i < logProbs.length; i++) {
          logProbs[i] = (float) sampled.logProbs()[i];
        }
        yield joined(sampled, new PartialCompletion(sampled.tokens(), logProbs, versions));
      }
      case Unknown(Refused why) -> why;
    };
  }

  private CheckedCompletion joined(RawCompletion sampled, PartialCompletion tail) {
    if (tail.length() > 0 && tail.versions()[0] < head.newest()) {
      return new Refused(
          Reason.VERSION_MISSING,
          "it was continued by weights %d after tokens of %d"
              .formatted(tail.versions()[0], head.newest()));
    }
    PartialCompletion all = head.append(tail);
    boolean cut = sampled.finish() == ServerFinishReason.ABORTED;
    if (cut && tail.length() < maxTokens && !endsAtLast(sampled)) {
      return new Cut(all);
    }
    return new Usable(all.ended(all.length(), reason(sampled)));
  }

  private boolean endsAtLast(RawCompletion sampled) {
    int[] tokens = sampled.tokens();
    return tokens.length > 0 && endIds.contains(tokens[tokens.length - 1]);
  }

  private FinishReason reason(RawCompletion sampled) {
    return switch (sampled.finish()) {
      case LENGTH -> FinishReason.LENGTH;
      case STOP -> endsAtLast(sampled) ? FinishReason.STOP : FinishReason.STOP_STRING;
      // Cut exactly when it had all its tokens.
      case ABORTED -> endsAtLast(sampled) ? FinishReason.STOP : FinishReason.LENGTH;
      case OPEN, ERROR, UNKNOWN -> throw new IllegalStateException("refused: " + sampled.finish());
    };
  }

  private Optional<Refused> ending(RawCompletion sampled) {
    return switch (sampled.finish()) {
      case STOP, LENGTH, ABORTED -> Optional.empty();
      case OPEN -> refuse(Reason.NOT_FINISHED, "the answer ended without a finish_reason");
      case ERROR -> refuse(Reason.NOT_FINISHED, "the server says that it failed");
      case UNKNOWN -> refuse(Reason.NOT_FINISHED, "its finish_reason is of no known kind");
    };
  }

  private Optional<Refused> tokens(RawCompletion sampled) {
    int[] tokens = sampled.tokens();
    if (sampled.counted().orElse(tokens.length) != tokens.length) {
      return refuse(
          Reason.TOKENS_MISSING,
          "the server sampled %d tokens and reported %d"
              .formatted(sampled.counted().getAsInt(), tokens.length));
    }
    if (tokens.length == 0) {
      return sampled.finish() == ServerFinishReason.ABORTED
          ? Optional.empty() // cut before its first token
          : refuse(Reason.EMPTY, "it has no token");
    }
    if (tokens.length > maxTokens) {
      return refuse(
          Reason.TOO_LONG,
          "it has %d tokens, and %d were asked for".formatted(tokens.length, maxTokens));
    }
    for (int i = 0; i < tokens.length; i++) {
      if (tokens[i] < 0 || tokens[i] >= vocabularySize) {
        return refuse(
            Reason.NO_ID,
            "token %d is %d; ids of this policy lie in [0, %d]"
                .formatted(i, tokens[i], vocabularySize - 1));
      }
    }
    for (int i = 0; i < tokens.length - 1; i++) {
      if (endIds.contains(tokens[i])) {
        return refuse(
            Reason.PAST_END,
            "token %d (%d) ends a completion, and %d follow it"
                .formatted(i, tokens[i], tokens.length - 1 - i));
      }
    }
    int last = tokens[tokens.length - 1];
    return sampled.finish() == ServerFinishReason.STOP && !stopStrings && !endIds.contains(last)
        ? refuse(
            Reason.END_MISSING, "it stopped, and its last token (%d) ends nothing".formatted(last))
        : Optional.empty();
  }

  private static Optional<Refused> logProbs(RawCompletion sampled) {
    double[] logProbs = sampled.logProbs();
    if (logProbs.length != sampled.tokens().length) {
      return refuse(
          Reason.LOG_PROBS_MISSING,
          "%d log-probabilities for %d tokens".formatted(logProbs.length, sampled.tokens().length));
    }
    for (int i = 0; i < logProbs.length; i++) {
      if (!Double.isFinite(logProbs[i]) || logProbs[i] <= FLOOR) {
        return refuse(
            Reason.NOT_FINITE, "the log-probability of token %d is %s".formatted(i, logProbs[i]));
      }
      if (logProbs[i] > ROUNDING) {
        return refuse(
            Reason.POSITIVE, "the log-probability of token %d is %s".formatted(i, logProbs[i]));
      }
    }
    return Optional.empty();
  }

  private Optional<Refused> prompt(RawCompletion sampled) {
    return sampled.prompt().length == 0 || Arrays.equals(sampled.prompt(), prompt)
        ? Optional.empty()
        : refuse(
            Reason.OTHER_PROMPT,
            "the server understood a prompt of %d tokens that is not the %d sent"
                .formatted(sampled.prompt().length, prompt.length));
  }

  private sealed interface VersionAttribution {}

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Known(long[] versions) implements VersionAttribution {}

  private record Unknown(Refused why) implements VersionAttribution {}

  private VersionAttribution versions(RawCompletion sampled) {
    int count = sampled.tokens().length;
    if (count == 0) {
      return new Known(new long[0]);
    }
    long[] same = new long[count];
    Arrays.fill(same, asked.version().number());
    if (telling == VersionReporting.ADAPTER) { // the model name is the base's
      Optional<VersionSpan> merged =
          sampled.versions().stream()
              .filter(span -> WeightTag.parse(span.tag()).isPresent())
              .findFirst();
      if (merged.isPresent()) {
        return new Unknown(
            new Refused(
                Reason.FOREIGN_WEIGHTS,
                "the server sampled it with merged weights of a run, %s, under the adapter %s"
                    .formatted(merged.get().tag(), asked)));
      }
      return sampled.model().isEmpty() || sampled.model().equals(asked.toString())
          ? new Known(same)
          : new Unknown(
              new Refused(
                  Reason.FOREIGN_WEIGHTS,
                  "the server sampled it with '%s', and %s was asked for"
                      .formatted(JsonFields.excerpt(sampled.model()), asked)));
    }
    if (sampled.versions().isEmpty()) {
      return telling == VersionReporting.SPANS
          ? new Unknown(new Refused(Reason.VERSION_MISSING, "no weight_versions"))
          : new Known(same);
    }
    List<VersionSpan> spans =
        sampled.versions().stream().sorted(Comparator.comparingInt(VersionSpan::start)).toList();
    long[] numbers = new long[count];
    Arrays.fill(numbers, -1);
    for (VersionSpan span : spans) {
      Optional<WeightTag> tag = WeightTag.parse(span.tag()).filter(this::ours);
      if (tag.isEmpty()) {
        return new Unknown(
            new Refused(
                Reason.FOREIGN_WEIGHTS,
                "the server names the weights '%s', and was last given %s"
                    .formatted(JsonFields.excerpt(span.tag()), asked)));
      }
      if (span.start() < 0 || span.end() > count || span.start() >= span.end()) {
        return new Unknown(
            new Refused(
                Reason.VERSION_MISSING,
                "weights %s are reported for tokens %d to %d of %d"
                    .formatted(span.tag(), span.start(), span.end(), count)));
      }
      Arrays.fill(numbers, span.start(), span.end(), tag.get().version().number());
    }
    return attribution(numbers);
  }

  /**
   * Exact where the spans cover all tokens in ascending order; otherwise the last span dates the
   * earlier tokens too.
   */
  private VersionAttribution attribution(long[] numbers) {
    boolean lastOnly =
        numbers[numbers.length - 1] >= 0 && Arrays.stream(numbers).filter(v -> v >= 0).count() == 1;
    if (lastOnly && numbers.length > 1) {
      Arrays.fill(numbers, Math.min(asked.version().number(), numbers[numbers.length - 1]));
    }
    for (int i = 0; i < numbers.length; i++) {
      if (numbers[i] < 0 || (i > 0 && numbers[i] < numbers[i - 1])) {
        return new Unknown(
            new Refused(
                Reason.VERSION_MISSING,
                "token %d has no weights, or older ones than the token before".formatted(i)));
      }
    }
    return new Known(numbers);
  }

  private boolean ours(WeightTag tag) {
    return tag.digest().equals(published.get(tag.version()));
  }

  private static Optional<Refused> refuse(Reason reason, String detail) {
    return Optional.of(new Refused(reason, detail));
  }
}
