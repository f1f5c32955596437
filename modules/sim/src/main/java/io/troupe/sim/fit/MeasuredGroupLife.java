package io.troupe.sim.fit;

import java.util.List;

/**
 * A group, as the journal has it.
 *
 * @param number in order of admission
 * @param worker place of the worker
 * @param granted in milliseconds on the clock of the journal, as the two that follow
 * @param sampled time at which all completions were there
 * @param scored time at which all were judged
 * @param lengths tokens of each completion
 * @param rewards of each completion
 */
record MeasuredGroupLife(
    long number,
    String worker,
    long granted,
    long sampled,
    long scored,
    List<Integer> lengths,
    List<Double> rewards) {
  int longest() {
    return lengths.stream().mapToInt(Integer::intValue).max().orElse(1);
  }
}
