package io.troupe.core.completion;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.List;

/**
 * The weight version of every token of a completion, as spans: weights may change between two
 * tokens, and only forward.
 *
 * @param spans in token order, versions strictly ascending
 */
public record TokenVersions(List<Span> spans) {
  /**
   * Consecutive tokens sampled by the same weights.
   *
   * @param tokens number of tokens, 1 or more
   */
  public record Span(WeightVersion version, int tokens) {
    public Span {
      if (tokens < 1) { // A simulated day has a thousand million spans: nothing is boxed here.
        throw new IllegalArgumentException(
            "a span holds at least one token, not %d".formatted(tokens));
      }
    }
  }

  public TokenVersions {
    spans = List.copyOf(spans);
    require(!spans.isEmpty(), "a completion has at least one token, so at least one span");
    WeightVersion before = spans.getFirst().version();
    for (int i = 1; i < spans.size(); i++) {
      WeightVersion next = spans.get(i).version();
      if (next.number() <= before.number()) { // No array of arguments for what nearly never fails.
        throw new IllegalArgumentException(
            "weights only move forward within a completion, but %s follows %s"
                .formatted(next, before));
      }
      before = next;
    }
  }

  /** Returns the versions of {@code tokens} tokens sampled by one version. */
  public static TokenVersions uniform(WeightVersion version, int tokens) {
    return new TokenVersions(List.of(new Span(version, tokens)));
  }

  /** The spans of tokens sampled by {@code versions}, one version number a token. */
  public static TokenVersions of(long[] versions) {
    List<Span> spans = new ArrayList<>();
    int start = 0;
    for (int i = 1; i <= versions.length; i++) {
      if (i == versions.length || versions[i] != versions[start]) {
        spans.add(new Span(new WeightVersion(versions[start]), i - start));
        start = i;
      }
    }
    return new TokenVersions(spans);
  }

  /** The version of the first token, the oldest. */
  public WeightVersion oldest() {
    return spans.getFirst().version();
  }

  /** The version of the last token, the newest. */
  public WeightVersion newest() {
    return spans.getLast().version();
  }

  /** The number of tokens. */
  public int tokens() {
    int sum = 0;
    for (int i = 0; i < spans.size(); i++) {
      sum += spans.get(i).tokens();
    }
    return sum;
  }

  /** The number of tokens sampled by {@code floor} or newer weights. */
  public int tokensSince(WeightVersion floor) {
    return spans.stream()
        .filter(span -> span.version().compareTo(floor) >= 0)
        .mapToInt(Span::tokens)
        .sum();
  }
}
