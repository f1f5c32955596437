package io.troupe.engine.http.sidecar;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Who belongs to a server, in a file: a line each with pid, start and part. The start tells a
 * process from a later one with its pid.
 *
 * @param lines the server's own process first
 */
record SidecarCard(List<Line> lines) {
  /** What a process is to the server. */
  enum Part {
    /** It is the server, and leads its group. */
    LEADER,
    /** It started the server. */
    OWNER,
    /** It came of the server. */
    KIN
  }

  /**
   * One process.
   *
   * @param start milliseconds since 1970; 0 where the system does not tell
   */
  record Line(long pid, long start, Part part) {
    private static Line of(ProcessHandle process, Part part) {
      return new Line(process.pid(), startOf(process), part);
    }

    private static long startOf(ProcessHandle process) {
      return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }

    private Optional<ProcessHandle> find() {
      return ProcessHandle.of(pid)
          .filter(found -> startOf(found) == start && !ProcessTree.ended(found));
    }
  }

  SidecarCard {
    lines = List.copyOf(lines);
  }

  /** The card of a server that this process started. */
  static SidecarCard of(ProcessHandle leader, Set<ProcessHandle> all) {
    List<Line> lines = new ArrayList<>();
    lines.add(Line.of(leader, Part.LEADER));
    lines.add(Line.of(ProcessHandle.current(), Part.OWNER));
    all.stream()
        .filter(one -> !one.equals(leader))
        .map(one -> Line.of(one, Part.KIN))
        .forEach(lines::add);
    return new SidecarCard(lines);
  }

  /** Reads a card; none if it is no card. */
  static Optional<SidecarCard> read(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
      List<Line> read =
          lines
              .filter(line -> !line.isBlank())
              .map(line -> line.strip().split(" ", -1))
              .map(
                  words ->
                      new Line(
                          Long.parseLong(words[0]),
                          Long.parseLong(words[1]),
                          Part.valueOf(words[2])))
              .toList();
      return read.isEmpty() ? Optional.empty() : Optional.of(new SidecarCard(read));
    } catch (IllegalArgumentException | IndexOutOfBoundsException cutOff) {
      return Optional.empty();
    }
  }

  /** Replaces the file as a whole. */
  void write(Path file) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    Files.writeString(
        next,
        lines.stream()
            .map(line -> "%d %d %s%n".formatted(line.pid, line.start, line.part))
            .collect(Collectors.joining()),
        StandardCharsets.UTF_8);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Whether the process that started the server runs. */
  boolean ownerRuns() {
    return lines.stream().anyMatch(line -> line.part == Part.OWNER && line.find().isPresent());
  }

  /** Those of the server that run, its own process first. */
  List<ProcessHandle> left() {
    return lines.stream()
        .filter(line -> line.part != Part.OWNER)
        .flatMap(line -> line.find().stream())
        .toList();
  }
}
