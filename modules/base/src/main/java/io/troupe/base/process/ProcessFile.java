package io.troupe.base.process;

import io.troupe.base.files.AtomicFile;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A file of processes and their roles: a line for each process with pid, start in milliseconds
 * since 1970, and role. The file proves that a process belongs to a writer that has ended, because
 * the start distinguishes the process from a later one with its pid.
 */
public final class ProcessFile {
  private ProcessFile() {}

  /**
   * One line.
   *
   * @param role a word
   */
  public record Entry(ProcessIdentity process, String role) {
    public Entry {
      if (role.isEmpty() || role.chars().anyMatch(Character::isWhitespace)) {
        throw new IllegalArgumentException("a role is one word, not '%s'".formatted(role));
      }
    }

    /**
     * Returns the entry of a running process; empty if the system does not report when the process
     * began.
     */
    public static Optional<Entry> of(ProcessHandle process, String role) {
      return ProcessIdentity.of(process).map(identity -> new Entry(identity, role));
    }
  }

  /** The file is no list of processes, or another program cut it off. */
  public static final class MalformedException extends IOException {
    private static final long serialVersionUID = 1L;

    MalformedException(String message, Exception cause) {
      super(message, cause);
    }
  }

  /** Replaces the file as a whole. */
  public static void write(Path file, List<Entry> entries) throws IOException {
    AtomicFile.replace(
        file,
        entries.stream()
            .map(
                one ->
                    "%d %d %s\n"
                        .formatted(
                            one.process().pid(), one.process().start().toEpochMilli(), one.role()))
            .collect(Collectors.joining()));
  }

  /**
   * Reads the file; no entries if there is none.
   *
   * @throws MalformedException if the file is no list of processes
   */
  public static List<Entry> read(Path file) throws IOException {
    List<String> lines;
    try {
      lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    } catch (NoSuchFileException absent) {
      return List.of();
    } catch (CharacterCodingException noText) {
      throw new MalformedException(file + " is no list of processes, and no text", noText);
    }
    List<Entry> entries = new ArrayList<>();
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      try {
        entries.add(
            new Entry(
                new ProcessIdentity(
                    Long.parseLong(words[0]), Instant.ofEpochMilli(Long.parseLong(words[1]))),
                words[2]));
      } catch (IllegalArgumentException | IndexOutOfBoundsException other) {
        throw new MalformedException(
            "%s is no list of processes: '%s'".formatted(file, line), other);
      }
    }
    return entries;
  }
}
