package io.troupe.store;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A segment file of a journal folder, known by its name: {@code 000001.journal}. */
record Segment(int number, Path file) {
  private static final String SUFFIX = ".journal";

  static Segment of(Path folder, int number) {
    return new Segment(number, folder.resolve("%06d%s".formatted(number, SUFFIX)));
  }

  /** All segments after {@code number}, in order. Other files are not looked at. */
  static List<Segment> after(Path folder, int number) throws IOException {
    List<Segment> segments = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        String digits = name.substring(0, name.length() - SUFFIX.length());
        if (digits.matches("[0-9]{6,9}") && Integer.parseInt(digits) > number) {
          segments.add(new Segment(Integer.parseInt(digits), file));
        }
      }
    }
    segments.sort(Comparator.comparingInt(Segment::number));
    return segments;
  }
}
