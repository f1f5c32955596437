package io.troupe.cli.verify;

import java.util.List;

/**
 * The judged part of completions, and whether it is written.
 *
 * @param stops a completion ends before the first of these texts that it holds
 * @param written whether the output holds what was judged
 */
public record CompletionText(List<String> stops, boolean written) {
  public CompletionText {
    stops = List.copyOf(stops);
  }

  /** The completion up to its first stop string. */
  String cut(String completion) {
    int end = completion.length();
    for (String stop : stops) {
      int at = completion.indexOf(stop);
      end = at >= 0 ? Math.min(end, at) : end;
    }
    return completion.substring(0, end);
  }
}
