package io.troupe.verifiers.math;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;

/** One problem of MATH-500. */
record Math500(String id, String answer, String solution) {
  static List<Math500> all() {
    var resource = Objects.requireNonNull(Math500.class.getResourceAsStream("math500.tsv.gz"));
    try (var lines =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(resource), StandardCharsets.UTF_8))) {
      return lines
          .lines()
          .map(line -> line.replace('⏎', '\n').split("\t", 3))
          .map(row -> new Math500(row[0], row[1], row[2]))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
