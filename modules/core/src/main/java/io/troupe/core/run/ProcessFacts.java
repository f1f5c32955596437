package io.troupe.core.run;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The facts, beside a run's data, on which its bits depend: the libraries, the machine and the
 * configuration of one coordinator process.
 *
 * @param facts by their names
 * @param config the resolved configuration, every key with its value
 */
public record ProcessFacts(SortedMap<String, String> facts, String config) {
  public ProcessFacts {
    facts = Collections.unmodifiableSortedMap(new TreeMap<>(facts));
  }
}
