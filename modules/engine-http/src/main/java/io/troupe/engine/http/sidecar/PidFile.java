package io.troupe.engine.http.sidecar;

import io.troupe.base.process.ProcessFile;
import io.troupe.base.process.ProcessIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The processes of a server, as a {@link ProcessFile} names them.
 *
 * @param entries the server's own process first
 */
record PidFile(List<ProcessFile.Entry> entries) {
  /** What a process is to the server. */
  enum Part {
    /** It is the server, and leads its group. */
    LEADER,
    /** It started the server. */
    OWNER,
    /** The server started it. */
    KIN
  }

  PidFile {
    entries = List.copyOf(entries);
  }

  /** The card of a server that this process started. */
  static PidFile of(ProcessHandle leader, Set<ProcessHandle> all) {
    return new PidFile(
        Stream.of(
                entry(leader, Part.LEADER),
                entry(ProcessHandle.current(), Part.OWNER),
                all.stream()
                    .filter(one -> !one.equals(leader))
                    .flatMap(one -> entry(one, Part.KIN)))
            .flatMap(one -> one)
            .toList());
  }

  private static Stream<ProcessFile.Entry> entry(ProcessHandle process, Part part) {
    return ProcessFile.Entry.of(process, part.name()).stream();
  }

  /** Reads a card; none if it is no card. */
  static Optional<PidFile> read(Path file) throws IOException {
    try {
      return Optional.of(new PidFile(ProcessFile.read(file)))
          .filter(card -> !card.entries.isEmpty());
    } catch (ProcessFile.MalformedException noCard) {
      return Optional.empty();
    }
  }

  /** Replaces the file as a whole. */
  void write(Path file) throws IOException {
    ProcessFile.write(file, entries);
  }

  /** Whether the process that started the server runs. */
  boolean ownerRuns() {
    return processes(true).anyMatch(ProcessIdentity::runs);
  }

  /** Those of the server that run, its own process first. */
  List<ProcessHandle> left() {
    return processes(false)
        .filter(ProcessIdentity::runs)
        .flatMap(process -> process.find().stream())
        .toList();
  }

  private Stream<ProcessIdentity> processes(boolean owner) {
    return entries.stream()
        .filter(entry -> entry.role().equals(Part.OWNER.name()) == owner)
        .map(ProcessFile.Entry::process);
  }
}
