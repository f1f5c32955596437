package io.troupe.verifiers.language;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Abbreviations and sentence starts, as a text taught them.
 *
 * @param abbreviations without their period
 * @param collocations pairs of words around a period that ends no sentence, joined by a tab
 * @param starters words that often begin sentences
 * @param contexts for each word in lower case, in which places and cases it was seen
 */
record PunktModel(
    Set<String> abbreviations,
    Set<String> collocations,
    Set<String> starters,
    Map<String, Integer> contexts) {
  static final int MIDDLE_UPPER = 1 << 2;
  static final int START_LOWER = 1 << 4;
  static final int ANY_UPPER = 1 << 1 | MIDDLE_UPPER | 1 << 3;
  static final int ANY_LOWER = START_LOWER | 1 << 5 | 1 << 6;

  PunktModel {
    abbreviations = Set.copyOf(abbreviations);
    collocations = Set.copyOf(collocations);
    starters = Set.copyOf(starters);
    contexts = Map.copyOf(contexts);
  }

  /** The parameters that ship with Troupe. */
  static PunktModel english() {
    try (InputStream in =
        Objects.requireNonNull(
            PunktModel.class.getResourceAsStream("punkt-english.tsv"), "punkt-english.tsv")) {
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static PunktModel parse(String text) {
    Set<String> abbreviations = new HashSet<>();
    Set<String> collocations = new HashSet<>();
    Set<String> starters = new HashSet<>();
    Map<String, Integer> contexts = new HashMap<>();
    for (String line : text.split("\n", -1)) {
      String[] fields = line.split("\t", -1);
      switch (fields[0]) {
        case "A" -> abbreviations.add(fields[1]);
        case "C" -> collocations.add(fields[1] + "\t" + fields[2]);
        case "S" -> starters.add(fields[1]);
        case "O" -> contexts.put(fields[1], Integer.parseInt(fields[2]));
        default -> {}
      }
    }
    return new PunktModel(abbreviations, collocations, starters, contexts);
  }

  int context(String word) {
    return contexts.getOrDefault(word, 0);
  }
}
