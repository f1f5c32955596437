package io.troupe.core.run;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the bits of a run depend on beside its data: the libraries, the machine and the
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
