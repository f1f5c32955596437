package io.troupe.tasks;

import java.util.ArrayList;
import java.util.List;

/**
 * What became of the rows of a source.
 *
 * @param rows read to train on
 * @param left what of them is left out, in the order of the steps that leave it out
 */
public record SourceReport(int rows, List<ExcludedPrompts> left) {
  public SourceReport {
    left = List.copyOf(left);
  }

  /** This report with more left out. */
  SourceReport leaving(List<ExcludedPrompts> more) {
    List<ExcludedPrompts> all = new ArrayList<>(left);
    all.addAll(more);
    return new SourceReport(rows, all);
  }
}
