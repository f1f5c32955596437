package io.troupe.tasks;

import java.util.ArrayList;
import java.util.List;

/**
 * What became of the rows of a source.
 *
 * @param rows read to train on
 * @param left what of them is left out, in the order of the steps that leave it out
 */
public record SourceReport(int rows, List<LeftOut> left) {
  public SourceReport {
    left = List.copyOf(left);
  }

  /** This report with more left out. */
  SourceReport leaving(List<LeftOut> more) {
    List<LeftOut> all = new ArrayList<>(left);
    all.addAll(more);
    return new SourceReport(rows, all);
  }
}
