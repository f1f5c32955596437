package io.troupe.core.rollout;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/** Times at which something was under way, in milliseconds; they may overlap. */
record TimeSpans(List<Span> spans) {
  /** A time from a moment to another. */
  record Span(long start, long end) {}

  TimeSpans {
    spans = spans.stream().sorted(Comparator.comparingLong(Span::start)).toList();
  }

  static <T> TimeSpans of(List<T> all, ToLongFunction<T> start, ToLongFunction<T> millis) {
    return new TimeSpans(
        all.stream()
            .map(
                each ->
                    new Span(
                        start.applyAsLong(each),
                        start.applyAsLong(each) + millis.applyAsLong(each)))
            .toList());
  }

  TimeSpans and(TimeSpans others) {
    List<Span> both = new ArrayList<>(spans);
    both.addAll(others.spans);
    return new TimeSpans(both);
  }

  /** The time that at least one of them covers. */
  long coveredMillis() {
    long covered = 0;
    long reached = Long.MIN_VALUE;
    for (Span span : spans) {
      covered += Math.max(0, span.end() - Math.max(span.start(), reached));
      reached = Math.max(reached, span.end());
    }
    return covered;
  }

  /** From the first start to the last end. */
  long wholeMillis() {
    return spans.isEmpty()
        ? 0
        : spans.stream().mapToLong(Span::end).max().orElseThrow() - spans.getFirst().start();
  }
}
