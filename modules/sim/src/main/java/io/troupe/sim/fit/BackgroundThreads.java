package io.troupe.sim.fit;

import java.util.List;

/**
 * The threads of a run's process that compute for no part of it: compilers, collection of garbage,
 * actors and the journal, which take from trainer and workers what no core is left for.
 */
final class BackgroundThreads {
  private static final int HALVINGS = 50;

  private BackgroundThreads() {}

  /**
   * The number g with which the cores are as busy as the process was: the mean of min(cores, parts
   * + g) over the time in which a part computed.
   *
   * @param computing threads that the process kept busy on average; 0 where that is not known
   * @return from 0 to {@code cores}
   */
  static double fit(List<BusyParts.Span> spans, double cores, double computing) {
    double low = 0;
    double high = cores;
    for (int i = 0; i < HALVINGS && computing > 0; i++) {
      double middle = (low + high) / 2;
      if (busy(spans, cores, middle) < computing) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * The threads that keep cores busy on average while a part computes, {@code background} with
   * them.
   */
  static double busy(List<BusyParts.Span> spans, double cores, double background) {
    double busy = 0;
    double all = 0;
    for (BusyParts.Span span : spans) {
      if (span.threads() > 0) {
        busy += span.millis() * Math.min(cores, span.threads() + background);
        all += span.millis();
      }
    }
    return all == 0 ? cores : busy / all;
  }
}
