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
 * The processes of a server, stored as a {@link ProcessFile}.
 *
 * @param entries the server's own process first
 */
record PidFile(List<ProcessFile.Entry> entries) {
  /** The relation of a process to the server. */
  enum Part {
    /** The process is the server, and leads its process group. */
    LEADER,
    /** The process started the server. */
    OWNER,
    /** The server started the process. */
    KIN
  }

  PidFile {
    entries = List.copyOf(entries);
  }

  /** The pid file of a server that this process started. */
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

  /** Reads a pid file; empty if the file is no pid file. */
  static Optional<PidFile> read(Path file) throws IOException {
    try {
      return Optional.of(new PidFile(ProcessFile.read(file)))
          .filter(card -> !card.entries.isEmpty());
    } catch (ProcessFile.MalformedException noCard) {
      return Optional.empty();
    }
  }

  /** Replaces the file atomically. */
  void write(Path file) throws IOException {
    ProcessFile.write(file, entries);
  }

  /** Whether the process that started the server is running. */
  boolean ownerRuns() {
    return processes(true).anyMatch(ProcessIdentity::runs);
  }

  /** The server's processes that are running, its own process first. */
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
