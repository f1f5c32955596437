package io.troupe.cluster.membership;

import static java.util.Objects.requireNonNull;

import io.troupe.base.files.AtomicFile;
import io.troupe.base.files.PrivateFiles;
import io.troupe.base.net.HostPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Whom a node has met in its cluster and can knock at: heads, standbys and other nodes. They are
 * kept in a file, so that a node that was cut off, or started again, finds back although the seeds
 * it was given have gone.
 */
public final class KnownMembers {
  private static final int MAX_MEMBERS = 32;

  private final Path file;
  private final List<HostPort> members;

  private KnownMembers(Path file, List<HostPort> members) {
    this.file = file;
    this.members = members;
  }

  /**
   * What is known by a file; nobody if it is not there yet.
   *
   * @throws IOException if it cannot be read; a line that is no address is left out
   */
  public static KnownMembers in(Path file) throws IOException {
    List<HostPort> members = new ArrayList<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        HostPort.read(line.strip()).ifPresent(members::add);
      }
    }
    return new KnownMembers(file, members);
  }

  /** All of them, those met last first. */
  public synchronized List<HostPort> all() {
    return List.copyOf(members.reversed());
  }

  synchronized void add(HostPort member) throws IOException {
    members.remove(member);
    members.add(member);
    while (members.size() > MAX_MEMBERS) {
      members.removeFirst();
    }
    write();
  }

  /** Forgets one that has left on purpose. */
  synchronized void remove(HostPort member) throws IOException {
    if (members.remove(member)) {
      write();
    }
  }

  private void write() throws IOException {
    PrivateFiles.folders(requireNonNull(file.toAbsolutePath().getParent()));
    AtomicFile.replace(file, members.stream().map(one -> one + "\n").collect(Collectors.joining()));
  }
}
