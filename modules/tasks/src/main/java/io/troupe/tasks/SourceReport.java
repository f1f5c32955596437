package io.troupe.tasks;

import java.util.ArrayList;
import java.util.List;

/**
 * The number of rows of a source, and the prompts left out of them.
 *
 * @param rows number of rows read to train on
 * @param refused rows that break a rule, as many as the settings allow
 * @param left prompts left out, in the order of the steps that leave them out
 */
public record SourceReport(int rows, List<ExcludedPrompts> refused, List<ExcludedPrompts> left) {
  public SourceReport {
    refused = List.copyOf(refused);
    left = List.copyOf(left);
  }

  /** Returns this report with more prompts left out. */
  SourceReport leaving(List<ExcludedPrompts> more) {
    List<ExcludedPrompts> all = new ArrayList<>(left);
    all.addAll(more);
    return new SourceReport(rows, refused, all);
  }
}
