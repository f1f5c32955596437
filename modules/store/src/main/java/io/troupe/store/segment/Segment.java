package io.troupe.store.segment;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A segment file of a journal folder, known by its name: {@code 000001.journal}, or {@code
 * 000001.journal.gz} once it is compressed.
 */
public record Segment(int number, Path file) {
  private static final String COMPRESSED = ".gz";
  private static final Pattern NAME =
      Pattern.compile("([0-9]{6,9})\\.journal(" + Pattern.quote(COMPRESSED) + ")?");

  /** A segment as its writer writes it. */
  public static Segment of(Path folder, int number) {
    return new Segment(number, folder.resolve("%06d.journal".formatted(number)));
  }

  /** Returns the file that takes the place of this one when it is compressed. */
  public Path compressedFile() {
    return file.resolveSibling(file.getFileName() + COMPRESSED);
  }

  public boolean compressed() {
    return isCompressed(file);
  }

  public static boolean isCompressed(Path file) {
    return file.toString().endsWith(COMPRESSED);
  }

  /**
   * Returns all segments after {@code number}, in order. Other files are not looked at. Of a
   * segment that is there in both forms, which a process leaves that dies while it compresses, the
   * plain one counts.
   *
   * <p>A listing is no snapshot: it may pass the place of the compressed file before that is there,
   * and the place of the plain one when that is gone. The last segment is never compressed, so that
   * a segment left out leaves a gap, and a listing with a gap counts once the next one equals it.
   */
  public static List<Segment> after(Path folder, int number) throws IOException {
    List<Segment> segments = listing(folder, number);
    List<Segment> before = List.of();
    while (!segments.isEmpty()
        && segments.getLast().number() - number != segments.size()
        && !segments.equals(before)) {
      before = segments;
      segments = listing(folder, number);
    }
    return segments;
  }

  private static List<Segment> listing(Path folder, int number) throws IOException {
    SortedMap<Integer, Segment> segments = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.journal*")) {
      for (Path file : files) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches() && Integer.parseInt(name.group(1)) > number) {
          Segment segment = new Segment(Integer.parseInt(name.group(1)), file);
          segments.merge(segment.number(), segment, (one, other) -> one.compressed() ? other : one);
        }
      }
    }
    return List.copyOf(segments.values());
  }
}
